// Says why this user may not look into a process, and what to type then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "profiler/stacks/process_tree.h"

namespace xlaprof::stacks {

// These facts decide whether a process may be looked into.
struct PtraceFacts {
  int64_t uid = 0, target_uid = 0;  // this user, and the user of the process
  int64_t tracer_pid = 0;           // of a debugger that is attached; 0: none
  bool has_capability = false;      // CAP_SYS_PTRACE
  bool may_get_capability = true;   // false: the container does not give it to anybody
  bool is_in_container = false;
  std::optional<int> ptrace_scope;  // of Yama; nothing: the kernel has no Yama
};
PtraceFacts ReadPtraceFacts(const ProcessInfo& process);

// Returns whether the kernel lets this process read the memory of `pid`, for which it makes the same
// checks as for attaching. Does not disturb the process. Returns nothing if that cannot be found
// out, for example because the process has ended.
std::optional<bool> MayLookInto(int64_t pid);

// Returns what forbids it, and what to type: one sentence each. `command` is the command to repeat,
// such as "xlaprof stacks 12".
std::string WhyForbidden(const PtraceFacts& facts, const std::string& command);

}  // namespace xlaprof::stacks
