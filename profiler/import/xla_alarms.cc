// An alarm rings once while the operation goes on and again when it has ended:
//
//   2024-11-04 20:21:27.997499: E external/xla/xla/service/slow_operation_alarm.cc:65] Constant
//   folding an instruction is taking > 1s:
//   (blank)
//     %reduce.8 = f64[200000,10]{1,0} reduce(...), metadata={op_name="..." source_line=13}
//   (blank)
//   This isn't necessarily a bug; ...
//   2024-11-04 20:21:33.721446: E external/xla/xla/service/slow_operation_alarm.cc:133] The
//   operation took 6.728977s
//   Constant folding an instruction is taking > 1s:
//   ...
//
// (the first two lines are one). Since October 2022 an instruction may be `slice.22 (displaying the
// full instruction incurs a runtime overhead. ...`. Around a compilation stand lines of stars:
// `Very slow compile?  If you want ...`, until 2022 alone or with `Compiling module NAME` in the
// next line, since then `[Compiling module NAME] Very slow compile?`. Kernels of a GPU: `Trying
// algorithm A for INSTRUCTION is taking a while...`. Loggers put their own prefix before any line.
#include "profiler/import/xla_alarms.h"

#include <absl/time/time.h>

#include <algorithm>
#include <deque>
#include <map>

#include "profiler/import/hlo_metadata.h"
#include "profiler/import/hlo_text.h"
#include "profiler/import/log_line.h"
#include "profiler/import/python_frames.h"
#include "profiler/import/utf8.h"

namespace xlaprof {
namespace {

constexpr std::string_view kPlace = "slow_operation_alarm.cc:", kTook = "The operation took ",
                           kFolding = "Constant folding an instruction is taking > ",
                           kVerySlow = "Very slow compile?", kSlow = "Slow compile?  XLA was built",
                           kModule = "Compiling module ", kTrying = "Trying algorithm ",
                           kWhile = " is taking a while", kHidden = " (displaying the full",
                           kStars = "********";
constexpr int64_t kVerySlowNs = 120'000'000'000, kSlowNs = 10'000'000'000;  // XLA's limits
constexpr int kMaxLines = 8;  // in which an instruction or module is told, after its alarm's words
constexpr size_t kMaxTextBytes = 1000;

// `2m12.850942799s` at the beginning of `text`.
OptInt DurationNs(std::string_view text) {
  absl::Duration duration;
  const std::string_view word = text.substr(0, text.find_first_not_of("0123456789.hmsun"));
  if (!absl::ParseDuration({word.data(), word.size()}, &duration)) return {};
  const int64_t ns = absl::ToInt64Nanoseconds(duration);
  return ns >= 0 && ns <= int64_t{1} << 60 ? OptInt(ns) : OptInt();
}

// `jit_apply_fn.9` and `jit_apply_fn.10` are compilations of one function.
std::string_view WithoutNumber(std::string_view module) {
  const size_t end = module.find_last_not_of("0123456789");
  return end != std::string_view::npos && end > 0 && module[end] == '.' && end + 1 < module.size()
             ? module.substr(0, end)
             : module;
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : lines_(bytes), end_(bytes.data() + bytes.size()) {}

  XlaAlarms Run(const std::function<void(size_t)>& progress) {
    constexpr int64_t kProgressLines = 1 << 14;
    while (lines_.Next()) {
      const std::string_view text = lines_.text();
      torn_ = !lines_.ended() && !lines_.is_decoded() && text.data() + text.size() == end_;
      Take(text);
      if (lines_.number() % kProgressLines == 0) progress(size_t(lines_.offset()));
    }
    if (begun_) log_.cut_at_line = now_.line;
    return std::move(log_);
  }

 private:
  void Take(std::string_view text) {
    const size_t took = text.find(kTook);
    if (took != std::string_view::npos || text.find(kPlace) != std::string_view::npos) {
      End();
      Begin();
      if (took != std::string_view::npos && !torn_)
        now_.dur_ns = DurationNs(text.substr(took + kTook.size()));
    }
    size_t at = 0;
    auto find = [&](std::string_view words) {
      at = text.find(words);
      return at != std::string_view::npos;
    };
    if (find(kFolding)) {
      BeginWith("constant_folding", DurationNs(text.substr(at + kFolding.size())));
    } else if (find(kVerySlow) || find(kSlow)) {
      BeginWith("compile", text[at] == kVerySlow[0] ? kVerySlowNs : kSlowNs);
      TakeModule(text.substr(0, at));
    } else if (find(kTrying) && text.find(kWhile, at) != std::string_view::npos) {
      BeginWith("autotuning", {});
      TakeTried(text.substr(at));
      End();
    } else if (begun_) {
      bool is_whole = false;
      if (now_.operation == "constant_folding") {
        is_whole = TakeInstruction(text);
      } else if (now_.operation == "compile") {
        TakeModule(text);
        is_whole = text.find(kStars) != std::string_view::npos;
      }
      if (is_whole || --lines_left_ == 0) End();
    }
  }

  void Begin() {
    if (begun_) return;
    begun_ = true;
    lines_left_ = kMaxLines;
    now_ = {.offset = lines_.offset(), .line = lines_.number()};
  }

  // What rings; the line with the place or the length may have told of it already.
  void BeginWith(const char* operation, OptInt least_ns) {
    if (!now_.operation.empty()) End();
    Begin();
    lines_left_ = kMaxLines;
    now_.operation = operation;
    now_.least_ns = least_ns;
  }

  // `[Compiling module NAME] `, or a line of its own.
  void TakeModule(std::string_view text) {
    const size_t at = text.find(kModule);
    if (at == std::string_view::npos || !now_.subject.empty() || torn_) return;
    std::string_view name = text.substr(at + kModule.size());
    name = name.substr(0, name.find_first_of("] \t"));
    now_.subject = WithoutNumber(name);
    now_.text = name;
  }

  // False for a line that holds none, or not all of it.
  bool TakeInstruction(std::string_view text) {
    if (size_t hidden = text.find(kHidden); hidden != std::string_view::npos) {
      text = text.substr(0, hidden);
      now_.subject = text.substr(text.find_last_of(" \t%") + 1);
      now_.text = now_.subject;
      now_.op = WithoutNumber(now_.subject);
      return true;
    }
    const size_t equals = text.find(" = ");
    if (equals == std::string_view::npos || torn_) return false;
    const size_t name = text.substr(0, equals).find_last_of(" \t%") + 1;  // npos + 1: the first
    now_.subject = text.substr(name, equals - name);
    now_.text = text.substr(name);
    Describe(now_.text);
    return true;
  }

  // What one line of HLO tells of its instruction.
  void Describe(std::string_view instruction) {
    constexpr size_t kMaxBytes = 1 << 20;
    if (instruction.size() > kMaxBytes) return;
    const GraphText graph = ParseHloText(
        fmt::format("HloModule alarm\n\nENTRY alarm {{\n  ROOT {}\n}}\n", instruction));
    if (!graph.nodes.empty()) {
      now_.op = graph.nodes.back().op;
      now_.shape = graph.nodes.back().shape;
    }
    const size_t at = instruction.find("metadata={");
    if (at == std::string_view::npos) return;
    const HloMetadata metadata = ParseHloMetadata(instruction.substr(at + 9));
    now_.scope = ScopeOf(metadata.op_name);
    now_.file = metadata.source_file;
    now_.line_of_code = metadata.source_line;
  }

  // `Trying algorithm A for INSTRUCTION is taking a while...`
  void TakeTried(std::string_view text) {
    text = text.substr(kTrying.size(), text.find(kWhile) - kTrying.size());
    now_.text = text;
    const size_t by = text.find(" for ");
    now_.subject = text.substr(0, by);
    if (by == std::string_view::npos) return;
    // `%conv.1 = (f32[2,3], u8[0]) custom-call(...)`; since 2023 `conv (f32[2,3], u8[0]) ...`.
    const std::string_view tried = text.substr(by + 5);
    const size_t equals = tried.find(" = "), space = tried.find(' ');
    const size_t result = equals != std::string_view::npos ? equals + 3 : space;
    if (result == std::string_view::npos) return;
    Describe(fmt::format("tried = {}", Trim(tried.substr(result))));
    // What a library computes has its name; its result comes with the memory that it needs.
    constexpr std::string_view kTarget = "custom_call_target=\"";
    if (size_t at = tried.find(kTarget); at != std::string_view::npos) {
      std::string_view target = tried.substr(at + kTarget.size());
      target = target.substr(0, target.find('"'));
      now_.op = target.substr(target.rfind('$') + 1);  // __cudnn$convForward
    }
    if (now_.shape.starts_with('(')) {
      std::string_view all = std::string_view(now_.shape).substr(1);
      now_.shape = std::string(TakePiece(&all, false));
    }
  }

  // The alarm is whole, as far as the log has it.
  void End() {
    if (!std::exchange(begun_, false)) return;
    if (now_.text.size() > kMaxTextBytes)
      now_.text.resize(ValidUtf8Prefix(std::string_view(now_.text).substr(0, kMaxTextBytes)));
    if (now_.operation.empty()) {
      if (!now_.dur_ns) return;
      now_.operation = "other";
    }
    const std::string key = now_.operation + ' ' + now_.text;
    if (!now_.dur_ns) {
      auto& same = ringing_[key];
      constexpr size_t kMost = 256;  // a log of beginnings only
      if (same.size() == kMost) same.pop_front();
      same.push_back(log_.alarms.size());
    } else if (auto rings = ringing_.find(key); rings != ringing_.end()) {
      log_.alarms[rings->second.front()].dur_ns = now_.dur_ns;
      rings->second.pop_front();
      if (rings->second.empty()) ringing_.erase(rings);
      return;
    }
    log_.alarms.push_back(std::move(now_));
  }

  LogTexts lines_;
  const char* end_;  // of the file
  XlaAlarms log_;
  std::map<std::string, std::deque<size_t>> ringing_;  // alarms without an end, by what they say
  XlaAlarm now_;
  bool begun_ = false, torn_ = false;  // torn_: the file ends inside this line
  int lines_left_ = 0;
};

}  // namespace

XlaAlarms ParseXlaAlarms(std::string_view bytes, const std::function<void(size_t)>& progress) {
  return Reader(bytes).Run(progress);
}

absl::StatusOr<int64_t> ReadXlaAlarms(const Input& input, ImportContext& context) {
  const auto [alarms, cut_at_line] = ParseXlaAlarms(input.bytes, context.progress);
  if (cut_at_line) {
    XP_TRY(
        context.Issue("cut_file", "warning",
                      "The log ends inside an alarm of XLA: it was cut, or the run was killed or "
                      "is still going on. What was whole is kept.",
                      {}, *cut_at_line));
  }
  auto text = [](std::string_view value) {
    return value.empty() ? OptText() : OptText(ToUtf8(value));
  };
  int64_t ordinal = 0;
  for (const XlaAlarm& alarm : alarms) {
    XP_TRY(int64_t process_id, context.ProcessId());
    CompileAlarmRow row{.process_id = process_id,
                        .ordinal = ordinal++,
                        .operation = alarm.operation,
                        .subject = text(alarm.subject),
                        .op = text(alarm.op),
                        .shape = text(alarm.shape),
                        .scope = text(alarm.scope),
                        .least_ns = alarm.least_ns,
                        .dur_ns = alarm.dur_ns,
                        .text = ToUtf8(alarm.text)};
    if (IsUserFile(alarm.file)) {
      XP_TRY(row.site_id, context.store.AddSite("", ToUtf8(alarm.file),
                                                std::max<int64_t>(0, alarm.line_of_code)));
    }
    XP_TRY(context.Add(row, alarm.offset, alarm.line));
  }
  return int64_t(alarms.size());
}

}  // namespace xlaprof
