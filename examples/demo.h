// The training that `xlaprof demo` records: MNIST, either done well or with a planted pathology.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

struct DemoRequest {
  std::filesystem::path output;  // the store, which is replaced when the training begins
  std::string pathology;         // empty: none
  int64_t steps = 0;
  std::function<void(double fraction)> progress;
};
struct DemoResult {
  double accuracy = 0;  // on held-out digits
};

// The table that xlaprof_demo.so exports. That file has the runtime and what it needs to compute.
struct DemoModule {
  const char* version;  // kVersion of the xlaprof that it was built with
  // Trains and records. Returns an error for problems that the user can fix.
  absl::StatusOr<DemoResult> (*run)(const DemoRequest& request);
  std::span<const std::string_view> (*pathologies)();
  static constexpr const char *kFile = "xlaprof_demo.so", *kSymbol = "xlaprof_demo_module";
};

}  // namespace xlaprof
