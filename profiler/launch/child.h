// Runs a program as its user would: with the same standard streams, signals and exit status.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"

namespace xlaprof {

// Exit statuses of programs that run another one, as env(1) has them.
inline constexpr int kExitLauncherFailed = 125, kExitCannotExecute = 126, kExitNotFound = 127;

struct Command {
  std::vector<std::string> words;                                // the program and its arguments
  std::vector<std::pair<std::string, std::string>> environment;  // variables to set for it
};

struct Ended {
  int exit_status = 0;  // 128 + its number if a signal ended the program
  int signal = 0;       // 0: none
  int64_t cpu_ns = 0;   // of the program and those of its children that it waited for
};

// Runs the command and waits until it ends. Signals that somebody sends to this process meanwhile are
// passed on to it; a terminal sends its own to both. Returns NotFound or PermissionDenied if the
// program cannot be executed, and another error if no process can be made.
absl::StatusOr<Ended> RunCommand(const Command& command);

}  // namespace xlaprof
