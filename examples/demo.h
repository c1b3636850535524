// The training that `xlaprof demo` records: MNIST, either done well or with a planted pathology.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace xlaprof {

struct DemoRequest {
  std::filesystem::path output;  // the store, which does not exist yet
  std::string pathology;         // empty: none
  int64_t steps = 0;
  std::function<void(double fraction)> progress;
};
struct DemoResult {
  double accuracy = 0;  // on held-out digits
};

// Trains and records. Returns an error for problems that the user can fix.
absl::StatusOr<DemoResult> Demonstrate(const DemoRequest& request);

// Returns the names of the pathologies that can be planted.
std::vector<std::string_view> DemoPathologies();

}  // namespace xlaprof
