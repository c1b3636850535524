// What XLA complains about by itself, on stderr and at any log level: compilations of over two
// minutes, instructions whose constants it computes for over a second, kernels that it tries for
// long (xla/service/slow_operation_alarm.cc).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

struct XlaAlarm {
  int origin = 0;         // index of XlaAlarms::origins
  AlarmKind operation = AlarmKind::kUnknown;
  std::string subject;           // module, instruction or algorithm; "" when not told
  std::string op, shape, scope;  // of the instruction, where the log shows all of it
  std::string file;              // of its metadata, of a library as well; "" when not told
  int64_t line_of_code = 0;      // in `file`; 0: not told
  OptInt least_ns;               // what it took at least: the alarm rang then
  OptInt dur_ns;                 // empty: the log does not show its end
  std::string text;              // its words, without those that are the same in all
  int64_t offset = 0, line = 0;  // of the first message about it
  bool is_certain = false;       // the line names XLA's code; else only its words are XLA's
};

// The alarms of a log in the order in which they rang. One that rings twice (when it has lasted for
// long, and at its end) is one alarm.
struct XlaAlarms {
  std::vector<LogOrigin> origins;
  std::vector<XlaAlarm> alarms;
  int64_t left_out = 0;  // behind the first 100,000
  OptInt cut_at_line;    // where the alarm begins that the log ends inside of; it is left out
};

// Whether `bytes` hold words that only an alarm has; without them there is none.
bool HoldsXlaAlarms(std::string_view bytes);

// `progress` gets bytes done.
XlaAlarms ParseXlaAlarms(std::string_view bytes, const std::function<void(size_t)>& progress);

// Writes the alarms of a log, whatever else it holds, as facts of the processes that `process_of`
// gives to what wrote them; their number.
using ProcessOfOrigin = std::function<absl::StatusOr<int64_t>(const LogOrigin&)>;
absl::StatusOr<int64_t> ReadXlaAlarms(const Input& input, ImportContext& context,
                                      const ProcessOfOrigin& process_of);

}  // namespace xlaprof
