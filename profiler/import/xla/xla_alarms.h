// Reads XLA's alarms about slow operations, which it prints unasked, on stderr and at any log
// level. They report compilations of over two minutes, instructions whose constants it computes for
// over a second, and kernels that it tries for long (xla/service/slow_operation_alarm.cc).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/log_line.h"
#include "profiler/store/rows.h"

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

// Words that only alarms have; without them there is no alarm.
inline constexpr std::string_view kXlaAlarmMarks[] = {
    "slow_operation_alarm.cc:", "The operation took ", "Very slow compile?",
    "XLA was built without compiler opt"};

// Reads the lines of a log. `bytes` is the whole log; `texts` has its lines and must outlive this
// object.
class XlaAlarmParser {
 public:
  XlaAlarmParser(std::string_view bytes, const LogTexts& texts);
  ~XlaAlarmParser();
  void Take();  // takes the line that `texts` is at
  XlaAlarms Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// The number of alarms that are kept.
inline constexpr size_t kMaxXlaAlarms = 100'000;

}  // namespace xlaprof
