// An alarm fires once while the operation is running and again when it has ended:
//
//   2024-11-04 20:21:27.997499: E external/xla/xla/service/slow_operation_alarm.cc:65]
//       Constant folding an instruction is taking > 1s:
//   (blank)
//     %reduce.8 = f64[200000,10]{1,0} reduce(...), metadata={op_name="..." source_line=13}
//   (blank)
//   This isn't necessarily a bug; ...
//   2024-11-04 20:21:33.721446: E external/xla/xla/service/slow_operation_alarm.cc:133]
//       The operation took 6.728977s
//   Constant folding an instruction is taking > 1s:
//   ...
//
// (An alarm's place and its first words are one line.) Since October 2022 an instruction may be
// `slice.22 (displaying the full instruction incurs a runtime overhead. ...`. Lines of stars are
// around a compilation: `Very slow compile?  If you want ...`. Until 2022 it came alone or with
// `Compiling module NAME` in the next line; since then it is `[Compiling module NAME] Very slow
// compile?`. An XLA that was itself built without optimization says `Slow compile?  XLA was built
// without compiler optimizations` instead. The alarm of a GPU's kernels is `Trying algorithm A for
// INSTRUCTION is taking a while...`. Loggers put their own prefix before any line, and pasted text
// stops anywhere.
#include "profiler/import/xla/xla_alarms.h"

#include <absl/time/time.h>

#include <algorithm>
#include <map>

#include "base/xla_shape.h"
#include "profiler/import/graph/hlo_metadata.h"
#include "profiler/import/graph/hlo_text.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/xla/dumped_program.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kPlace = kXlaAlarmMarks[0], kTook = kXlaAlarmMarks[1],
                           kFolding = "Constant folding an instruction is taking > ",
                           kVerySlow = kXlaAlarmMarks[2], kDumpTo = "XLA_FLAGS=--xla_dump_to",
                           kUnoptimized = kXlaAlarmMarks[3], kOpt = "-c opt",
                           kModule = "Compiling module ", kTrying = "Trying algorithm ",
                           kWhile = " is taking a while", kHidden = " (displaying the full",
                           kStars = "********";
constexpr int64_t kVerySlowNs = 120'000'000'000, kUnoptimizedNs = 10'000'000'000;  // XLA's limits
constexpr int kMaxLines = 8;  // an instruction or module comes at most this many lines after its
                              // alarm's words
constexpr size_t kMaxPrefixBytes = 200, kMaxTextBytes = 1000;

// Reads `2m12.850942799s` at the beginning of `text`.
OptInt DurationNs(std::string_view text) {
  absl::Duration duration;
  const std::string_view word = text.substr(0, text.find_first_not_of("0123456789.hmsun"));
  if (!absl::ParseDuration({word.data(), word.size()}, &duration)) return {};
  const int64_t ns = absl::ToInt64Nanoseconds(duration);
  return ns >= 0 && ns <= int64_t{1} << 60 ? OptInt(ns) : OptInt();
}

}  // namespace

class XlaAlarmParser::Impl {
 public:
  Impl(std::string_view bytes, const LogTexts& texts)
      : lines_(texts), end_(bytes.data() + bytes.size()) {}

  void Take() {
    const std::string_view text = lines_.text();
    torn_ = !lines_.ended() && !lines_.is_decoded() && text.data() + text.size() == end_;
    Take(text);
  }

  XlaAlarms Finish() {
    for (auto& [origin, state] : states_) {
      // A module's name is all that XLA prints, and only asterisks follow. XLA's whole sentence is
      // an alarm, although the module's name may have come below it.
      if (IsCompile(state.now) && (!state.now.subject.empty() || state.is_whole_sentence))
        End(state);
      if (state.begun && state.now.dur_ns && state.now.operation == AlarmKind::kUnknown &&
          !has_torn_words_)
        TakeLostWords(state, AlarmKind::kUnknown);
      if (state.begun && !log_.cut_at_line) log_.cut_at_line = state.now.line;
    }
    return std::move(log_);
  }

 private:
  // The state of one process, because several processes that print into one log are mixed.
  struct State {
    int origin = 0;  // index of XlaAlarms::origins
    XlaAlarm now;
    bool begun = false;
    bool is_whole_sentence = false;  // the words of `now` are there to their end
    bool has_bare_ends = false;      // the words of ends were filtered out
    int lines_left = 0;
    std::string head;                                    // text before the place in XLA's code
    std::map<std::string, std::vector<size_t>> ringing;  // alarms without an end, by their words
  };

  void Take(std::string_view text) {
    const size_t place = text.find(kPlace), took = text.find(kTook);
    size_t at = 0, words_at = kNone;
    auto find = [&](std::string_view words) {
      at = text.find(words);
      if (at != kNone) words_at = at;
      return at != kNone;
    };
    enum { kNothing, kFolds, kCompiles, kTries } words = kNothing;
    if (find(kFolding)) {
      words = kFolds;
    } else if (find(kVerySlow) || find(kUnoptimized)) {
      words = kCompiles;
    } else if (find(kTrying) && text.find(kWhile, at) != kNone) {
      words = kTries;
    }
    const bool is_head = place != kNone || took != kNone;
    if (!is_head && words == kNothing && open_ == 0) return;
    State& state = StateOf(OriginOfPrefix(PrefixOf(text, std::min({place, took, words_at}))));
    if (is_head) {
      End(state);
      Begin(state);
      state.now.is_certain = place != kNone;
      state.head = text.substr(0, std::min(kMaxPrefixBytes, place));
      // Each length ends in an s.
      if (took != kNone && (!torn_ || Trim(text).ends_with('s')))
        state.now.dur_ns = DurationNs(text.substr(took + kTook.size()));
    }
    switch (words) {
      case kFolds:
        BeginWith(state, AlarmKind::kConstantFolding,
                  DurationNs(text.substr(at + kFolding.size())));
        break;
      case kCompiles:
        if (text.substr(at).starts_with(kVerySlow)) {
          BeginWith(state, AlarmKind::kCompile, kVerySlowNs);
          state.is_whole_sentence = text.find(kDumpTo, at) != kNone;
        } else {
          BeginWith(state, AlarmKind::kUnoptimizedCompile, kUnoptimizedNs);
          state.is_whole_sentence = text.find(kOpt, at) != kNone;
        }
        TakeModule(state.now, text.substr(0, at));
        break;
      case kTries:
        BeginWith(state, AlarmKind::kAutotuning, {});
        TakeTried(state.now, text.substr(at));
        End(state);
        break;
      case kNothing:
        if (state.begun) TakeMore(state, text, is_head);
        break;
    }
  }

  // Returns what the logger put before a message: `(Worker pid=94) 2025-01-02 10:00:00.1: E
  // external/...`.
  static std::string_view PrefixOf(std::string_view text, size_t message) {
    std::string_view prefix = text.substr(0, message);
    if (message == kNone) {
      const size_t hidden = text.find(kHidden);
      prefix = hidden == kNone ? text.substr(0, text.find_first_of("%*"))
                               : text.substr(0, text.substr(0, hidden).find_last_of(" \t") + 1);
    }
    for (std::string_view level : {": E ", ": W ", ": I "}) {
      if (size_t at = prefix.find(level); at != kNone) prefix = prefix.substr(0, at);
    }
    return prefix;
  }

  static bool IsCompile(const XlaAlarm& alarm) {
    return alarm.operation == AlarmKind::kCompile ||
           alarm.operation == AlarmKind::kUnoptimizedCompile;
  }

  // Returns the operation whose words begin with `words`; kUnknown if none does.
  static AlarmKind OperationCutTo(std::string_view words) {
    constexpr size_t kShortest = 4;  // "Cons"
    if (words.size() < kShortest) return AlarmKind::kUnknown;
    return kFolding.starts_with(words)  ? AlarmKind::kConstantFolding
           : kTrying.starts_with(words) ? AlarmKind::kAutotuning
                                        : AlarmKind::kUnknown;
  }

  // Takes an end whose words were not copied. It belongs to the alarm that has no end yet, if there
  // is only one (of `operation`, unless that is kUnknown).
  void TakeLostWords(State& state, AlarmKind operation) {
    std::vector<size_t>* only = nullptr;
    int fitting = 0;
    for (auto& [words, rings] : state.ringing) {
      const XlaAlarm& alarm = log_.alarms[rings.front()];
      if (operation != AlarmKind::kUnknown && alarm.operation != operation) continue;
      if (alarm.least_ns && state.now.dur_ns && *alarm.least_ns > *state.now.dur_ns) continue;
      only = &rings, fitting += int(rings.size());
    }
    if (fitting == 1 && state.now.is_certain && !state.has_bare_ends) {
      log_.alarms[only->front()].dur_ns = state.now.dur_ns;
      std::erase_if(state.ringing, [&](const auto& entry) { return &entry.second == only; });
    } else if (!log_.cut_at_line) {
      log_.cut_at_line = state.now.line;
    }
    state.begun = false;
    --open_;
  }

  static std::string_view Behind(std::string_view text, size_t at, size_t size) {
    return at == kNone ? "" : Trim(text.substr(at + size));
  }

  // Returns `text` without the prefix that the logger puts before each line, and that the line with
  // the place has, too.
  static std::string_view WithoutPrefix(std::string_view text, std::string_view head) {
    text = Trim(text);
    if (head.starts_with(text)) return "";
    size_t alike = 0;
    while (alike < head.size() && alike < text.size() && head[alike] == text[alike]) ++alike;
    const size_t space = text.substr(0, alike).rfind(' ');
    return space == kNone ? text : Trim(text.substr(space));
  }

  // Takes a line after the words of an alarm, or one whose words are unknown.
  void TakeMore(State& state, std::string_view text, bool is_head) {
    bool is_whole = false;
    XlaAlarm& now = state.now;
    const bool is_stars = text.find(kStars) != kNone;
    if (now.operation == AlarmKind::kConstantFolding) {
      is_whole = TakeInstruction(now, text);
    } else if (IsCompile(now)) {
      TakeModule(now, text);
      is_whole = is_stars;
    } else if (now.is_certain && !is_stars) {
      // These words are not known. They come after the place, or in the line below the length.
      text = is_head ? Behind(text, text.find("] ", text.find(kPlace)), 2)
                     : WithoutPrefix(text, state.head);
      if (text.find(kTook) != kNone) text = "";
      const AlarmKind cut_to = OperationCutTo(text);
      const bool is_fence = text.starts_with("```");  // the end of a quotation
      if (now.dur_ns && (is_fence || cut_to != AlarmKind::kUnknown))
        return TakeLostWords(state, cut_to);
      is_whole = !text.empty();
      if (is_whole && torn_) {
        has_torn_words_ = true;
        return;
      }
      if (is_whole) now.operation = AlarmKind::kOther, now.text = text;
    }
    if (is_whole || --state.lines_left == 0) End(state);
  }

  void Begin(State& state) {
    if (state.begun) return;
    state.begun = true;
    ++open_;
    state.lines_left = kMaxLines;
    state.now = {.offset = lines_.offset(), .line = lines_.number()};
  }

  // Begins an alarm of `operation`. The line with the place or the length may have begun it
  // already.
  void BeginWith(State& state, AlarmKind operation, OptInt least_ns) {
    if (state.now.operation != AlarmKind::kUnknown) End(state);
    Begin(state);
    state.lines_left = kMaxLines;
    state.now.operation = operation;
    state.now.least_ns = least_ns;
  }

  // Takes the name in `[Compiling module NAME] `, or in a line of its own.
  void TakeModule(XlaAlarm& now, std::string_view text) {
    const size_t at = text.find(kModule);
    if (at == kNone || !now.subject.empty()) return;
    std::string_view name = text.substr(at + kModule.size());
    const size_t end = name.find_first_of("] \t");
    if (end == kNone && torn_) return;
    name = name.substr(0, end);
    now.subject = WithoutNumber(name);
    now.text = name;
  }

  // Returns whether `text` ends with its outermost bracket. If it had been cut, a bracket would
  // most likely be open.
  static bool IsClosed(std::string_view text) {
    text = Trim(text);
    auto count = [&](char c) { return std::ranges::count(text, c); };
    return (text.ends_with('}') || text.ends_with(')')) && count('(') > 0 &&
           count('(') == count(')') && count('{') == count('}');
  }

  // Takes an instruction. Returns false if the line holds none, or not all of it.
  bool TakeInstruction(XlaAlarm& now, std::string_view text) {
    if (size_t hidden = text.find(kHidden); hidden != kNone) {
      text = text.substr(0, hidden);
      now.subject = text.substr(text.find_last_of(" \t%") + 1);
      now.text = now.subject;
      now.op = WithoutNumber(now.subject);
      return true;
    }
    const size_t equals = text.find(" = ");
    if (equals == kNone || (torn_ && !IsClosed(text))) return false;
    const size_t name = text.substr(0, equals).find_last_of(" \t%") + 1;  // npos + 1: the first
    now.subject = text.substr(name, equals - name);
    now.text = text.substr(name);
    Describe(now, now.text);
    return true;
  }

  // Adds what one line of HLO says about its instruction.
  static void Describe(XlaAlarm& now, std::string_view instruction) {
    constexpr size_t kMaxBytes = 1 << 20;
    if (instruction.size() > kMaxBytes) return;
    const GraphText graph = ParseHloText(
        fmt::format("HloModule alarm\n\nENTRY alarm {{\n  ROOT {}\n}}\n", instruction));
    if (!graph.nodes.empty()) {
      now.op = graph.nodes.back().op;
      now.shape = graph.nodes.back().shape;
    }
    const size_t at = instruction.find("metadata={");
    if (at == kNone) return;
    const HloMetadata metadata = ParseHloMetadata(instruction.substr(at + 9));
    now.scope = ScopeOf(metadata.op_name);
    now.file = metadata.source_file;
    now.line_of_code = metadata.source_line;
  }

  // Reads `Trying algorithm A for INSTRUCTION is taking a while...`.
  static void TakeTried(XlaAlarm& now, std::string_view text) {
    text = text.substr(kTrying.size(), text.find(kWhile) - kTrying.size());
    now.text = text;
    const size_t by = text.find(" for ");
    now.subject = text.substr(0, by);
    if (by == kNone) return;
    // The instruction is `%conv.1 = (f32[2,3], u8[0]) custom-call(...)`, and since 2023 `conv
    // (f32[2,3], u8[0]) ...`.
    const std::string_view tried = text.substr(by + 5);
    const size_t equals = tried.find(" = "), space = tried.find(' ');
    const size_t result = equals != kNone ? equals + 3 : space;
    if (result == kNone) return;
    Describe(now, fmt::format("tried = {}", Trim(tried.substr(result))));
    // An op that a library computes has the library's name; its result comes with the memory that
    // it needs.
    constexpr std::string_view kTarget = "custom_call_target=\"";
    if (size_t at = tried.find(kTarget); at != kNone) {
      std::string_view target = tried.substr(at + kTarget.size());
      target = target.substr(0, target.find('"'));
      now.op = target.substr(target.rfind('$') + 1);  // __cudnn$convForward
    }
    const std::optional<XlaShape> shape = XlaShape::Parse(now.shape);
    if (shape && !shape->elements().empty()) now.shape = shape->elements().front().text();
  }

  // Adds the alarm, which is whole as far as the log has it. An end without words is XLA's only if
  // its place in the code is printed.
  void End(State& state) {
    if (!std::exchange(state.begun, false)) return;
    --open_;
    XlaAlarm& now = state.now;
    if (now.operation == AlarmKind::kUnknown) {
      if (!now.is_certain) return;
      now.operation = AlarmKind::kOther;
    }
    if (now.operation == AlarmKind::kOther && !now.dur_ns) return;  // nothing to report so far
    state.has_bare_ends =
        state.has_bare_ends || (now.text.empty() && now.operation == AlarmKind::kOther);
    if (now.text.size() > kMaxTextBytes) {
      now.text.resize(ValidUtf8Prefix(std::string_view(now.text).substr(0, kMaxTextBytes)));
      now.text.shrink_to_fit();
    }
    const std::string key = fmt::format("{} {}", now.operation, now.text);
    auto rings = state.ringing.find(key);
    if (now.dur_ns && rings != state.ringing.end()) {
      log_.alarms[rings->second.front()].dur_ns = now.dur_ns;
      rings->second.erase(rings->second.begin());
      if (rings->second.empty()) state.ringing.erase(rings);
      return;
    }
    if (log_.alarms.size() == kMaxXlaAlarms) {
      ++log_.left_out;
      return;
    }
    constexpr size_t kMostAlike = 64;
    if (!now.dur_ns && (rings == state.ringing.end() || rings->second.size() < kMostAlike))
      state.ringing[key].push_back(log_.alarms.size());
    now.origin = state.origin;
    log_.alarms.push_back(std::move(now));
  }

  State& StateOf(const LogOrigin& origin) {
    constexpr size_t kMaxOrigins = 4096;
    const auto found = states_.find(origin);
    if (found != states_.end()) return found->second;
    if (states_.size() == kMaxOrigins) return states_.begin()->second;
    State& state = states_[origin];
    state.origin = int(log_.origins.size());
    log_.origins.push_back(origin);
    return state;
  }

  const LogTexts& lines_;
  const char* end_;  // end of the file
  XlaAlarms log_;
  std::map<LogOrigin, State> states_;
  int open_ = 0;                 // states that have begun
  bool torn_ = false;            // the file ends inside this line
  bool has_torn_words_ = false;  // the last line has words that are not known
};

XlaAlarmParser::XlaAlarmParser(std::string_view bytes, const LogTexts& texts)
    : impl_(std::make_unique<Impl>(bytes, texts)) {}
XlaAlarmParser::~XlaAlarmParser() = default;
void XlaAlarmParser::Take() { impl_->Take(); }
XlaAlarms XlaAlarmParser::Finish() && { return impl_->Finish(); }

}  // namespace xlaprof
