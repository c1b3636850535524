// Declares xlaprof demo, which trains a small network on the lazy runtime, records it and reports
// on it. xlaprof-demo (demo_main.cc) runs it.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace CLI {
class App;
}

namespace xlaprof {

inline constexpr const char* kDemoSummary =
    "Trains a small network on the lazy runtime, recorded, and reports on it";

struct DemoArguments {
  std::string pathology, output = "run.xlaprof";
  int64_t steps = 300;
  bool force = false;
};

void AddDemoCommand(CLI::App& app, int& exit_status, absl::Status (*run)(const DemoArguments&));

}  // namespace xlaprof
