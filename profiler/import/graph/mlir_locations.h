// Where an operation of an MLIR module comes from: its loc(...), and the aliases of locations that
// a module ends with.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

struct MlirLocation {
  std::string name;                 // of the operation, such as jit(f)/tanh; "" when not told
  std::vector<Store::Frame> stack;  // innermost first
};

class MlirLocations {
 public:
  // Takes in the aliases of `text`, which stays valid as long as this.
  explicit MlirLocations(std::string_view text);

  // What `location`, as printed behind an operation (`loc(#loc24)`), stands for. Text that means
  // nothing tells nothing, nor does any once a module has taken more work than honest ones do.
  MlirLocation Of(std::string_view location);

 private:
  absl::flat_hash_map<std::string_view, std::string_view> aliases_;  // #loc24 -> "f"(#loc3)
  uint64_t bytes_left_;                                              // that may still be looked at
};

}  // namespace xlaprof
