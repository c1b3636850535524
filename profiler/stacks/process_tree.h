// Finds a process and all its descendants through /proc: torchrun's ranks, the workers of a data
// loader, and so on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof::stacks {

struct ProcessInfo {
  int64_t pid = 0, parent = 0;
  int depth = 0;  // generations below the process that was asked for
  char state =
      '?';  // as in /proc/PID/stat: R, S, D (waits for a device), T (stopped), Z (ended), ...
  int64_t uid = -1;         // whose process it is
  int64_t own_pid = 0;      // its process id as it knows it itself, inside its container
  int64_t tracer_pid = 0;   // of a debugger that is attached; 0: none
  std::string command;      // its arguments, separated by spaces
  OptInt rank, local_rank;  // from the environment that it was started with
  bool runs_python = false;
  // Folders of programs that belong to its Python environment.
  std::vector<std::filesystem::path> environment_bins;
};

// Returns the process of thread or process `pid`, then its descendants without the calling process,
// each after its parent.
// Returns NotFound if there is no such process. `proc` is where /proc is mounted.
absl::StatusOr<std::vector<ProcessInfo>> ProcessTree(int64_t pid,
                                                     const std::filesystem::path& proc = "/proc");

// Returns the ring files that a process has open, as links below /proc. Returns none if this user
// may not look.
std::vector<std::filesystem::path> RingsOf(int64_t pid,
                                           const std::filesystem::path& proc = "/proc");

// Returns the state in words: "runs", "sleeps", "waits for a device", "is stopped", "has ended".
std::string_view StateText(char state);

}  // namespace xlaprof::stacks
