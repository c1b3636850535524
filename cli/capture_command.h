// Declares xlaprof capture, which takes a profile of programs that are running now. xlaprof-capture
// (capture_main.cc) runs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace CLI {
class App;
}

namespace xlaprof {

inline constexpr const char* kCaptureSummary =
    "Takes a profile of running programs that use torch_xla, TorchTPU or JAX, or that xlaprof records";

struct CaptureArguments {
  std::vector<std::string> addresses;
  std::string duration = "5s", delay = "0s", output = "run.xlaprof";
  std::string keep;  // the directory for the answers of the programs; "": they are not kept
  int retries = 0;   // how often a capture without events is repeated
  int64_t most_answer_mb = 1000;
  bool force = false;
};

// A message of gRPC can have 2 GiB.
inline constexpr int64_t kMostAnswerMb = 2147;

// Adds the subcommand. `run` returns the exit status, which becomes `exit_status`, the result of
// main and must outlive `app`.
void AddCaptureCommand(CLI::App& app, int& exit_status,
                       absl::StatusOr<int> (*run)(const CaptureArguments&));

}  // namespace xlaprof
