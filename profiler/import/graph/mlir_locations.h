// Finds out where an operation of an MLIR module comes from: its loc(...), and the aliases of
// locations that a module ends with.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct MlirLocation {
  std::string name;                 // name of the operation, such as jit(f)/tanh; "" if not printed
  std::vector<Store::Frame> stack;  // innermost first
};

class MlirLocations {
 public:
  // Collects the aliases of `text`, which must stay valid as long as this object.
  explicit MlirLocations(std::string_view text);

  // Resolves `location`, as printed after an operation (`loc(#loc24)`). The result is empty if the
  // text has no meaning, or once a module has taken more work than honest ones do.
  MlirLocation Of(std::string_view location);

 private:
  absl::flat_hash_map<std::string_view, std::string_view> aliases_;  // #loc24 -> "f"(#loc3)
  uint64_t bytes_left_;                                              // bytes that may still be read
};

}  // namespace xlaprof
