// Finds XLA's alarms in the output of any program that uses XLA. xla_alarms.cc describes their
// format. Logs of JAX and torch_xla may hold them as well.
#include <algorithm>

#include "profiler/import/log/dialect.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/xla/xla_alarms.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// Returns NULL for a text that was not printed.
OptText WrittenText(const std::string& value) { return TextOrNull(ToUtf8(value)); }

// The scores are low, because other dialects tell more; their marks may come late.
int SniffXlaLog(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (has("slow_operation_alarm.cc:") || has("Constant folding an instruction is taking > "))
    return 30;
  const bool is_slow =
      has("Very slow compile?") && (has("--xla_dump_to") || has("[Compiling module "));
  return is_slow || has("XLA was built without compiler optimizations") ? 25 : 0;
}

class XlaLogReader : public DialectReader {
 public:
  explicit XlaLogReader(LogReading& reading)
      : reading_(reading), parser_(reading.input.bytes, reading.texts) {}

  void Take() override { parser_.Take(); }
  void End() override { log_ = std::move(parser_).Finish(); }
  bool Found() const override { return !log_.alarms.empty(); }

  absl::Status Refuse() const override {
    const Input& input = reading_.input;
    // The message must not deny words that the user can see.
    for (const char* words : {"The operation took ", "Constant folding an instruction",
                              "slow compile?", "slow_operation_alarm.cc:"}) {
      if (input.bytes.find(words) == std::string_view::npos) continue;
      return Invalid(
          "{}: the log contains no complete alarm of XLA. It contains '{}', but not the instruction, the module or the place in XLA's code, because the alarm was cut or broken into lines. Use the log that the program itself writes, with all of its lines, or name the format with --as",
          input.path, words);
    }
    return Invalid(
        "{}: the log contains no alarm of XLA. xlaprof looked for 'Very slow compile?', 'Constant folding an instruction is taking' and 'The operation took'. To see compilations, run JAX with JAX_LOG_COMPILES=1 or torch_xla with PT_XLA_DEBUG_LEVEL=2, or name the format with --as",
        input.path);
  }

  absl::Status WriteIssues() override {
    if (log_.cut_at_line) {
      XP_TRY(reading_.context.Issue(
          issue_codes::kCutFile, Severity::kWarning,
          "The log ends inside an alarm of XLA: it was cut, or the run was killed or still runs. Everything before that is kept.",
          {}, *log_.cut_at_line));
    }
    if (log_.left_out == 0) return absl::OkStatus();
    return reading_.context.Issue(
        "many_alarms", Severity::kWarning,
        fmt::format("Only the first {} of XLA's alarms are kept. Import a part of the log.",
                    kMaxXlaAlarms),
        {}, {}, log_.left_out);
  }

  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    for (const XlaAlarm& alarm : log_.alarms) places.push_back({alarm.line});
    return places;
  }

  absl::Status Write(size_t fact, int run) override {
    const XlaAlarm& alarm = log_.alarms[fact];
    XP_TRY(const LogProcesses::Process* process,
           reading_.processes.Nearest(run, log_.origins[size_t(alarm.origin)]));
    CompileAlarmRow row{.process_id = process->id,
                        .ordinal = int64_t(fact),
                        .operation = alarm.operation,
                        .subject = WrittenText(alarm.subject),
                        .op = WrittenText(alarm.op),
                        .shape = WrittenText(alarm.shape),
                        .scope = WrittenText(alarm.scope),
                        .least_ns = alarm.least_ns,
                        .dur_ns = alarm.dur_ns,
                        .text = ToUtf8(alarm.text)};
    ImportContext& context = reading_.context;
    if (IsUserFile(alarm.file)) {
      XP_TRY(row.site_id, context.store.AddSite("", ToUtf8(alarm.file),
                                                std::max<int64_t>(0, alarm.line_of_code)));
    }
    return context.Add(row, alarm.offset, alarm.line).status();
  }

 private:
  LogReading& reading_;
  XlaAlarmParser parser_;
  XlaAlarms log_;
};

}  // namespace

extern const Dialect xla_log{
    .name = "xla_log",
    .summary = "XLA's own warnings about slow compilations, in the output of any program",
    .example = "train.log",
    .sniff = SniffXlaLog,
    .marks = kXlaAlarmMarks,
    .read = MakeReader<XlaLogReader>};

}  // namespace xlaprof
