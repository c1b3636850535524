// Looks into a running process and its descendants: their stacks, by py-spy or gdb, and their open
// scopes, if they record themselves.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/stacks/process_tree.h"
#include "profiler/stacks/stack_groups.h"
#include "profiler/store/open_scope.h"

namespace xlaprof::stacks {

struct Options {
  int64_t process_timeout_ns = 10'000'000'000;  // for the tools of one process
  int64_t total_timeout_ns = 60'000'000'000;    // for all processes
  bool native = false;  // also frames of C and C++ in Python processes, by py-spy
};

struct ProcessLook {
  ProcessInfo process;
  std::string tool;              // that gave the stacks: py-spy or gdb; "" if there are none
  std::string error;             // why there are no stacks; "" if there are
  bool is_forbidden = false;     // the error is that this user may not look into it
  bool is_recorded = false;      // it records itself
  std::vector<OpenThread> open;  // its threads with open scopes
};

struct Look {
  std::vector<ProcessLook> processes;  // each after its parent; never empty
  std::vector<StackGroup> groups;
  bool has_python_lines_missing = false;  // a Python process was read by gdb without its extension

  bool has_stacks() const { return !groups.empty(); }
};

// Returns NotFound if there is no such process, or if there is neither py-spy nor gdb and no process
// records itself. A process that cannot be looked into has an error; the others are read.
absl::StatusOr<Look> LookInto(int64_t pid, const Options& options);

// Returns what to install, if neither py-spy nor gdb is there, or "".
std::string MissingTools(const Look& look);

struct TextOptions {
  int width = 100;
  bool all = false;  // all frames of all groups
};
std::string LookText(const Look& look, const TextOptions& options);
// Returns one JSON object, indented by two spaces, with a final newline.
std::string LookJson(const Look& look);

}  // namespace xlaprof::stacks
