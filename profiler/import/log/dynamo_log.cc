// Reads what torch.compile (torch._dynamo) prints about recompilation, in the output of any program.
// A function that reaches its limit of programs is warned about without any setting:
//
//   W1124 23:12:41.1 12 torch/_dynamo/convert_frame.py:1358] [0/8] torch._dynamo hit config.recompile_limit (8)
//   W1124 23:12:41.1 12 torch/_dynamo/convert_frame.py:1358] [0/8]    function: 'step' (/x/train.py:19)
//   W1124 23:12:41.1 12 torch/_dynamo/convert_frame.py:1358] [0/8]    last reason: 0/7: tensor 'x' size mismatch ...
//
// torch 2.0 to 2.5 call it cache_size_limit, without prefixes or with others, and print `reasons:`.
// With TORCH_LOGS=recompiles each recompilation is printed:
//
//   V1124 23:12:40.1 12 torch/_dynamo/guards.py:2813] [0/1] [__recompiles] Recompiling function step in /x/train.py:19
//   V1124 23:12:40.1 12 torch/_dynamo/guards.py:2813] [0/1] [__recompiles]     triggered by the following guard failure(s):
//   V1124 23:12:40.1 12 torch/_dynamo/guards.py:2813] [0/1] [__recompiles]     - 0/0: tensor 'x' size mismatch ...
//
// [0/1] is the function's number and the number of programs that it had before. torch 2.1 and 2.2 print
// `torch._dynamo.guards.__recompiles: [DEBUG] ` before each line. torch 2.0 prints one line:
//
//   [...] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling function step in /x/train.py', "triggered by the following guard failure: L['t'] == 0")
//
// With TORCH_LOGS=graph_breaks, the text of each graph break (torch/graph_break.cc) follows
// `[__graph_breaks] `, line by line.
#include <algorithm>
#include <map>
#include <variant>
#include <vector>

#include "core/base/numbers.h"
#include "core/base/source_place.h"
#include "profiler/import/log/dialect.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch/graph_break.h"

namespace xlaprof {
namespace {

constexpr std::string_view kHit = "torch._dynamo hit config.";
constexpr std::string_view kRecompiling = "Recompiling function ";
// PyTorch begins each line about a recompilation with the first of these, before 2.3 with the second.
constexpr std::string_view kMarks[] = {"[__recompiles]", "__recompiles: [DEBUG]"};
constexpr std::string_view kBreaks = "[__graph_breaks]";
constexpr std::string_view kDynamoMarks[] = {kHit, kRecompiling, kBreaks};
constexpr size_t kMostReasonBytes = 1000;

// The score is low, because other dialects tell more.
int SniffDynamoLog(std::string_view window) {
  const bool is_told = window.find(kHit) != kNone || window.find(kBreaks) != kNone ||
                       std::ranges::any_of(kMarks, [&](std::string_view mark) {
                         const size_t at = window.find(mark);
                         return at != kNone && window.find(kRecompiling, at) != kNone;
                       });
  return is_told ? 28 : 0;
}

// Returns the text behind `label`, without spaces, or nothing if the line does not hold the label.
std::optional<std::string_view> Behind(std::string_view line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == kNone) return {};
  return Trim(line.substr(at + label.size()));
}

// Returns "x" for "0/7: x".
std::string_view WithoutFrame(std::string_view reason) {
  const size_t end = reason.find_first_not_of("0123456789/");
  if (end == kNone || end == 0 || reason[end] != ':') return reason;
  return Trim(reason.substr(end + 1));
}

// Returns 36 for a line with the id [3/36] before its text.
OptInt EarlierPrograms(std::string_view line) {
  line = line.substr(0, line.find(kMarks[0]));
  const size_t slash = line.rfind('/'), open = line.rfind('[', slash);
  if (slash == kNone || open == kNone) return {};
  const std::string_view frame = line.substr(open + 1, slash - open - 1),
                         rest = line.substr(slash + 1);
  const size_t end = rest.find_first_not_of("0123456789");
  if (frame.empty() || frame.find_first_not_of("0123456789") != kNone || end == 0 || end == kNone ||
      (rest[end] != ']' && rest[end] != '_'))  // 36_1 is another attempt
    return {};
  return ParseCount(rest.substr(0, end));
}

struct Recompile {
  std::string function, file;
  int64_t line = 0;
  OptInt programs, earlier;
  std::string reason;
  int64_t offset = 0, number = 0;
  LogOrigin origin;
};

class RecompileReader {
 public:
  void Take(const LogTexts& texts) {
    const std::string_view line = texts.text();
    if (const auto hit = Behind(line, kHit)) {
      Begin(texts, State::kLimit, kHit);
      const size_t open = hit->find('('), close = hit->find(')');
      if (open != kNone && close != kNone && close > open)
        now_.programs = ParseCount(hit->substr(open + 1, close - open - 1));
    } else if (const auto function = Behind(line, kRecompiling)) {
      Begin(texts, State::kRecompile, kRecompiling);
      now_.earlier = EarlierPrograms(line);
      TakeFunction(*function);
    } else if (state_ == State::kLimit) {
      TakeOfLimit(line, texts.ended());
    } else if (state_ == State::kRecompile) {
      TakeOfRecompile(line, texts.ended());
    }
  }
  std::vector<Recompile> Finish() {
    End();
    return std::move(all_);
  }

 private:
  enum class State : uint8_t { kOutside, kLimit, kRecompile };

  void Begin(const LogTexts& texts, State state, std::string_view label) {
    End();
    state_ = state;
    const std::string_view prefix = texts.text().substr(0, texts.text().find(label));
    now_ = {.offset = texts.offset(), .number = texts.number(), .origin = OriginOfPrefix(prefix)};
  }
  void End() {
    if (state_ != State::kOutside && !now_.function.empty()) all_.push_back(std::move(now_));
    state_ = State::kOutside;
  }
  void SetPlace(std::string_view text) {
    const size_t colon = text.rfind(':');
    if (colon == kNone) return;
    now_.line = ParseCount(text.substr(colon + 1)).value_or(0);
    if (now_.line > 0) now_.file = ToUtf8(text.substr(0, colon));
  }
  // Takes "step in /x/train.py:19", or what torch 2.0 prints.
  void TakeFunction(std::string_view text) {
    constexpr std::string_view kFailure = "guard failure: ";
    const size_t quote = text.find("', \"triggered");
    const std::string_view place = text.substr(0, quote);
    const size_t in = place.rfind(" in ");
    now_.function = ToUtf8(place.substr(0, in));
    if (quote == kNone) {
      if (in != kNone) SetPlace(place.substr(in + 4));
      return;
    }
    if (in != kNone) now_.file = ToUtf8(place.substr(in + 4));
    std::string_view reason = text.substr(quote);
    const size_t failure = reason.find(kFailure);
    if (failure == kNone) return;
    reason = reason.substr(failure + kFailure.size());
    now_.reason = ToUtf8(reason.substr(0, reason.rfind("\")")));
    End();
  }
  // Takes a line such as "function: 'step' (/x/train.py:19)".
  // A reason that is cut is none.
  void TakeOfLimit(std::string_view line, bool is_whole) {
    if (const auto function = Behind(line, "function: '")) {
      const size_t end = function->find('\'');
      now_.function = ToUtf8(function->substr(0, end));
      const size_t open = function->rfind('('), close = function->rfind(')');
      if (open != kNone && close != kNone && close > open)
        SetPlace(function->substr(open + 1, close - open - 1));
      return;
    }
    for (std::string_view label : {"last reason:", "reasons:"}) {
      if (const auto reason = Behind(line, label)) {
        if (is_whole) now_.reason = ToUtf8(WithoutFrame(*reason));
        return End();
      }
    }
  }
  // Takes the first line of the failed checks, such as "- 0/0: tensor 'x' size mismatch".
  void TakeOfRecompile(std::string_view line, bool is_whole) {
    auto text = Behind(line, kMarks[0]);
    if (!text) text = Behind(line, kMarks[1]);
    if (!text) return;  // the program's own output
    if (!text->starts_with("- ")) return;
    if (is_whole) now_.reason = ToUtf8(WithoutFrame(Trim(text->substr(2))));
    End();
  }

  State state_ = State::kOutside;
  Recompile now_;
  std::vector<Recompile> all_;
};

struct Break {
  GraphBreak what;
  int64_t offset = 0, number = 0;
  LogOrigin origin;
};

class BreakReader {
 public:
  void Take(const LogTexts& texts) {
    const std::string_view line = texts.text();
    const size_t at = line.find(kBreaks);
    if (at == kNone) return;
    // The text keeps the spaces at the begin of its lines.
    std::string_view text = line.substr(at + kBreaks.size());
    if (text.starts_with(' ')) text.remove_prefix(1);
    if (text.starts_with("Graph break ")) {
      End();
      now_ = {.offset = texts.offset(),
              .number = texts.number(),
              .origin = OriginOfPrefix(line.substr(0, at))};
      text_.clear();
    }
    constexpr size_t kMostTextBytes = 64 << 10;
    if (text_.size() < kMostTextBytes) text_.append(text).append(1, '\n');
  }
  std::vector<Break> Finish() {
    End();
    return std::move(all_);
  }

 private:
  void End() {
    std::optional<GraphBreak> what = ParseGraphBreak(text_);
    text_.clear();
    if (!what) return;
    // A break that was printed before is printed without its stack, so without its function.
    std::string& function = functions_[{what->place.file, what->place.line}];
    if (what->place.function.empty()) what->place.function = function;
    function = what->place.function;
    now_.what = *std::move(what);
    all_.push_back(std::move(now_));
  }

  Break now_;
  std::string text_;  // of the break that is being read
  std::map<std::pair<std::string, OptInt>, std::string> functions_;  // by place
  std::vector<Break> all_;
};

std::string Bounded(std::string text) {
  if (text.size() > kMostReasonBytes) text = ToUtf8(text.substr(0, kMostReasonBytes)) + "...";
  return text;
}

class DynamoLogReader : public DialectReader {
 public:
  explicit DynamoLogReader(LogReading& reading) : reading_(reading) {}

  void Take() override {
    recompiles_.Take(reading_.texts);
    breaks_.Take(reading_.texts);
  }
  void End() override {
    for (Recompile& one : recompiles_.Finish()) all_.emplace_back(std::move(one));
    for (Break& one : breaks_.Finish()) all_.emplace_back(std::move(one));
    std::ranges::stable_sort(all_, {}, NumberOf);
  }
  bool Found() const override { return !all_.empty(); }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: no recompilation of torch.compile names its function, and no graph break its place. xlaprof looked for 'torch._dynamo hit config.recompile_limit' with 'function:' behind it, for 'Recompiling function', and for '[__graph_breaks] Graph break in user code at'. Run with TORCH_LOGS=recompiles,graph_breaks, or name the format with --as",
        reading_.input.path);
  }

  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    for (const Fact& one : all_) places.push_back({NumberOf(one)});
    return places;
  }

  absl::Status Write(size_t fact, int run) override {
    if (const auto* one = std::get_if<Break>(&all_[fact])) return WriteBreak(*one, fact, run);
    const Recompile& one = std::get<Recompile>(all_[fact]);
    XP_TRY(const LogProcesses::Process* process, reading_.processes.Nearest(run, one.origin));
    DynamoRecompileRow row{.process_id = process->id,
                           .ordinal = int64_t(fact),
                           .function = one.function,
                           .programs = one.programs,
                           .earlier = one.earlier};
    ImportContext& context = reading_.context;
    if (!one.reason.empty()) row.reason = Bounded(one.reason);
    if (!one.file.empty()) {
      XP_TRY(row.site_id, context.store.AddSite(one.function, one.file, one.line));
    }
    return context.Add(row, one.offset, one.number).status();
  }

 private:
  using Fact = std::variant<Recompile, Break>;
  static int64_t NumberOf(const Fact& fact) {
    return std::visit([](const auto& one) { return one.number; }, fact);
  }

  absl::Status WriteBreak(const Break& one, size_t fact, int run) {
    XP_TRY(const LogProcesses::Process* process, reading_.processes.Nearest(run, one.origin));
    ImportContext& context = reading_.context;
    GraphBreakRow row{
        .process_id = process->id, .ordinal = int64_t(fact), .reason = one.what.reason};
    if (!one.what.place.function.empty()) row.function = one.what.place.function;
    if (!one.what.code.empty()) row.code = one.what.code;
    if (!one.what.hint.empty()) row.hint = one.what.hint;
    XP_TRY(row.site_id, context.store.AddSite(one.what.place.function, one.what.place.file,
                                              one.what.place.line.value_or(0)));
    if (!one.what.frames.empty()) {
      XP_TRY(row.stack_id, context.store.AddStack(one.what.frames));
    }
    return context.Add(row, one.offset, one.number).status();
  }

  LogReading& reading_;
  RecompileReader recompiles_;
  BreakReader breaks_;
  std::vector<Fact> all_;  // in the order of their lines
};

}  // namespace

extern const Dialect dynamo_log{
    .name = "dynamo_log",
    .summary =
        "what torch.compile prints about recompilations and graph breaks, in the output of any program",
    .example = "train.log",
    .sniff = SniffDynamoLog,
    .marks = kDynamoMarks,
    .read = MakeReader<DynamoLogReader>};

}  // namespace xlaprof
