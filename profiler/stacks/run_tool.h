// Runs another program, such as py-spy or gdb, for a limited time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace xlaprof::stacks {

struct ToolOutput {
  int status = -1;         // its exit status; -1 if a signal ended it
  bool timed_out = false;  // it was ended because its time was up
  std::string out, err;
};

// Runs `arguments`, of which the first is the program's path, with an empty standard input. After
// `timeout_ns` sends it SIGTERM, so that a debugger detaches, and SIGKILL a second later. Keeps at
// most 64 MB of its output. Returns an error only if it cannot be started. Any thread may call this.
absl::StatusOr<ToolOutput> RunTool(const std::vector<std::string>& arguments, int64_t timeout_ns);

// Returns the path of program `name` on PATH, or in one of `more` folders. Those belong to other
// programs, so a file there is taken only if nobody but this user and root can write or replace it.
// Returns "" if there is none.
std::filesystem::path FindTool(const std::string& name,
                               std::span<const std::filesystem::path> more = {});

}  // namespace xlaprof::stacks
