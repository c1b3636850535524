// A training that `xlaprof demo` records: MNIST, as it should be done or with a sin planted.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "core/base/status.h"

namespace xlaprof {

struct DemoRequest {
  std::filesystem::path output;  // the store; replaced when the training begins
  std::string pathology;         // empty: none
  int64_t steps = 0;
  std::function<void(double fraction)> progress;
};
struct DemoResult {
  double accuracy = 0;  // of held-out digits
};

// Exported by xlaprof_demo.so, which holds the runtime and what it needs to compute.
struct DemoModule {
  const char* version;  // kVersion of the xlaprof that it belongs to
  // Trains, recorded. A status for what the user can mend.
  absl::StatusOr<DemoResult> (*run)(const DemoRequest& request);
  std::span<const std::string_view> (*pathologies)();
  static constexpr const char *kFile = "xlaprof_demo.so", *kSymbol = "xlaprof_demo_module";
};

}  // namespace xlaprof
