// XLA's own alarms of slow operations (table compile_alarm), grouped by what XLA was doing.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct CompileAlarm {
  int64_t row = 0, ns = 0;
  bool ended = false;   // false: it took more than `ns`
  Subject subject;      // the op, its scope and the user's line that made it
  OptText name, shape;  // the instruction, module or algorithm; the shape of the instruction
  std::string text;     // as XLA printed it
};

// Alarms of one kind and, if they are of compilations, of one module. Processes compile in
// parallel, so the time is that of the process that takes longest.
struct CompileAlarms {
  AlarmKind kind = AlarmKind::kUnknown;
  std::vector<CompileAlarm> all;             // the longest first
  std::map<int64_t, int64_t> ns_by_process;  // sum per process
  int64_t ns = 0;                            // the largest sum
  bool ended = true;                         // false: they took more than `ns`
};

// Returns the alarms by kind and module. If `compiles_are_timed`, leaves out alarms of compilations
// that have ended, because their times are known anyway.
absl::StatusOr<std::vector<CompileAlarms>> LoadCompileAlarms(const Run& run,
                                                             bool compiles_are_timed);

}  // namespace xlaprof
