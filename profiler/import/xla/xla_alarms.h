// Reads XLA's alarms about slow operations, which it prints unasked, on stderr and at any log
// level. They report compilations of over two minutes, instructions whose constants it computes for
// over a second, and kernels that it tries for long (xla/service/slow_operation_alarm.cc).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

struct XlaAlarm {
  int origin = 0;  // index of XlaAlarms::origins
  AlarmKind operation = AlarmKind::kUnknown;
  std::string subject;           // module, instruction or algorithm; "" if not printed
  std::string op, shape, scope;  // the instruction's, if the log shows all of it
  std::string file;              // of its metadata, perhaps a library's; "" if not printed
  int64_t line_of_code = 0;      // in `file`; 0: not printed
  OptInt least_ns;               // time after which the alarm fired, so it took longer
  OptInt dur_ns;                 // empty: the log does not show its end
  std::string text;              // its words, without those that all alarms have
  int64_t offset = 0, line = 0;  // place of the first message about it
  bool is_certain = false;       // the line names XLA's code; else only its words are XLA's
};

// The alarms of a log, in the order in which they fired. One that fires twice (when it has lasted
// for long, and at its end) is one alarm.
struct XlaAlarms {
  std::vector<LogOrigin> origins;
  std::vector<XlaAlarm> alarms;
  int64_t left_out = 0;  // number of alarms after the first 100,000
  OptInt cut_at_line;    // line of the alarm that the log ends inside of; it is left out
};

// Returns whether `bytes` hold words that only alarms have; without them there is no alarm.
bool HoldsXlaAlarms(std::string_view bytes);

// Reads all of `bytes`; `progress` gets the bytes done.
XlaAlarms ParseXlaAlarms(std::string_view bytes, const std::function<void(size_t)>& progress);

// Writes the alarms of a log, whatever else it holds, and returns their number. `process_of` gives
// the process of each origin, to which the alarms are added.
using ProcessOfOrigin = std::function<absl::StatusOr<int64_t>(const LogOrigin&)>;
absl::StatusOr<int64_t> ReadXlaAlarms(const Input& input, ImportContext& context,
                                      const ProcessOfOrigin& process_of);

}  // namespace xlaprof
