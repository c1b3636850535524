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
// All earlier programs of the function are listed, each with the first of its checks that failed
// (torch/guard_history.h). [0/1] is the function's number and that of the new program. torch 2.1 and 2.2 print
// `torch._dynamo.guards.__recompiles: [DEBUG] ` before each line. torch 2.0 prints one line:
//
//   [...] torch._dynamo.convert_frame.__recompiles: [DEBUG] ('Recompiling function step in /x/train.py', "triggered by the following guard failure: L['t'] == 0")
//
// With TORCH_LOGS=graph_breaks, the text of each graph break (torch/graph_break.cc) follows
// `[__graph_breaks] `, line by line. With TORCH_LOGS=guards, each program is printed with its checks:
//
//   V1124 23:12:40.1 12 torch/_dynamo/guards.py:5307] [0/1] [__guards] | | +- EQUALS_MATCH: L['n'] == 2
//
// A function that could not be compiled, and so runs without it, is warned about (dynamo_failures.h).
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "base/source_place.h"
#include "profiler/import/log/dialect.h"
#include "profiler/import/log/dynamo_failures.h"
#include "profiler/import/log/dynamo_lines.h"
#include "profiler/import/log/dynamo_programs.h"
#include "profiler/import/log/dynamo_recompiles.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch/dynamo_graph.h"
#include "profiler/import/torch/graph_break.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kBreaks = "[__graph_breaks]";
constexpr std::string_view kGuards = "[__guards]";
constexpr std::string_view kDynamoMarks[] = {kDynamoLimit, kDynamoRecompiling, kBreaks,
                                             kWontConvert};

// The score is low, because other dialects tell more.
int SniffDynamoLog(std::string_view window) {
  constexpr std::string_view kMarks[] = {kDynamoRecompiles, kOldDynamoRecompiles};
  const bool is_told = window.find(kDynamoLimit) != kNone || window.find(kBreaks) != kNone ||
                       HoldsDynamoFailure(window) ||
                       std::ranges::any_of(kMarks, [&](std::string_view mark) {
                         const size_t at = window.find(mark);
                         return at != kNone && window.find(kDynamoRecompiling, at) != kNone;
                       });
  return is_told ? 28 : 0;
}

struct Break {
  GraphBreak what;
  int64_t offset = 0, number = 0;
  DynamoPrefix prefix;
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
              .prefix = ParseDynamoPrefix(line.substr(0, at))};
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
    // An analysis that begins again meets the same break again.
    if (now_.prefix.id && !met_.emplace(now_.prefix.origin, now_.prefix.id->both(),
                                        what->place.file, what->place.line, what->reason)
                               .second)
      return;
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
  // What each compilation has met: process, program, place and reason.
  std::set<std::tuple<LogOrigin, std::pair<int64_t, int64_t>, std::string, OptInt, std::string>>
      met_;
  std::vector<Break> all_;
};

// Takes the values with which guards compare numbers and texts, and the shapes of tensors.
class GuardReader {
 public:
  void Take(std::string_view line) {
    const size_t mark = line.find(kGuards);
    if (mark == kNone) return;
    std::string_view text = line.substr(mark);
    const auto shape = ShapeInGuard(text);
    const auto match = shape ? std::nullopt : TakeEqualsMatch(&text);
    if (!match && !shape) return;
    const DynamoPrefix prefix = ParseDynamoPrefix(line.substr(0, mark));
    if (!prefix.id) return;
    GuardValues& values = values_[{prefix.origin, prefix.id->both()}];
    // If one name has two values, another program has the same number.
    if (match) {
      const auto [known, is_new] = values.numbers.emplace(match->first, match->second);
      if (!is_new && known->second != match->second) known->second.clear();
    } else {
      const auto [known, is_new] = values.shapes.emplace(shape->first, shape->second);
      if (!is_new && known->second != shape->second) known->second = XlaShape();
    }
  }
  // By process and program.
  std::map<std::pair<LogOrigin, std::pair<int64_t, int64_t>>, GuardValues> Finish(
      const DynamoOrigins& origins) {
    std::map<std::pair<LogOrigin, std::pair<int64_t, int64_t>>, GuardValues> values;
    for (auto& [of, own] : values_) {
      GuardValues& all = values[{origins.WithRank(of.first), of.second}];
      all.numbers.merge(own.numbers);
      all.shapes.merge(own.shapes);
    }
    return values;
  }

 private:
  std::map<std::pair<LogOrigin, std::pair<int64_t, int64_t>>, GuardValues> values_;
};

// Returns the text of a failure without the number of its program.
std::string TextOfFailure(const GuardFailure& failure) {
  const size_t begin = failure.program ? failure.text.find(' ') + 1 : 0;
  return ToBoundedUtf8(failure.text.substr(begin));
}

class DynamoLogReader : public DialectReader {
 public:
  explicit DynamoLogReader(LogReading& reading) : reading_(reading) {}

  void Take() override {
    recompiles_.Take(reading_.texts);
    failures_.Take(reading_.texts);
    breaks_.Take(reading_.texts);
    guards_.Take(reading_.texts.text());
    end_.Take(reading_.texts);
  }

  void End() override {
    messages_ = recompiles_.Finish();
    all_breaks_ = breaks_.Finish();
    all_failures_ = failures_.Finish();
    for (const auto& one : messages_) origins_.Note(one.prefix.origin);
    for (const auto& one : all_breaks_) origins_.Note(one.prefix.origin);
    for (const auto& one : all_failures_) origins_.Note(one.prefix.origin);
    origins_.Finish();
    const auto set_rank = [&](auto& list) {
      for (auto& one : list) one.prefix.origin = origins_.WithRank(one.prefix.origin);
    };
    set_rank(messages_), set_rank(all_breaks_), set_rank(all_failures_);
    programs_ = ProgramsOf(messages_, FailedMessages(), guards_.Finish(origins_));
    for (size_t i = 0; i < programs_.programs.size(); ++i)
      all_.push_back({Kind::kProgram, i, messages_[programs_.programs[i].message].number});
    for (size_t i = 0; i < programs_.others.size(); ++i)
      all_.push_back({Kind::kOther, i, messages_[programs_.others[i].first].number});
    for (size_t i = 0; i < all_breaks_.size(); ++i)
      all_.push_back({Kind::kBreak, i, all_breaks_[i].number});
    for (size_t i = 0; i < all_failures_.size(); ++i)
      all_.push_back({Kind::kFailure, i, all_failures_[i].number});
    std::ranges::stable_sort(all_, {}, &Fact::number);
    FindCallers();
  }
  bool Found() const override { return !all_.empty(); }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: no recompilation of torch.compile names its function, and no graph break its place. xlaprof looked for 'torch._dynamo hit config.recompile_limit' with 'function:' behind it, for 'Recompiling function', for '[__graph_breaks] Graph break in user code at', and for \"WON'T CONVERT\". Run with TORCH_LOGS=recompiles,graph_breaks, or name the format with --as",
        reading_.input.path);
  }

  absl::Status WriteIssues() override {
    const std::optional<TextPosition> cut = end_.Cut();
    if (!cut || !Found()) return absl::OkStatus();
    return reading_.context.Issue(
        issue_codes::kCutFile, Severity::kWarning,
        "The log ends inside a message of torch.compile: it was cut, or the run was killed or still runs. Everything before that is kept.",
        cut->offset, cut->line);
  }

  std::vector<LogPlace> Facts() const override {
    std::vector<LogPlace> places;
    for (const Fact& one : all_) places.push_back({one.number});
    return places;
  }

  absl::Status Write(size_t fact, int run) override {
    const auto [kind, index, number] = all_[fact];
    switch (kind) {
      case Kind::kProgram:
        return WriteProgram(programs_.programs[index], run);
      case Kind::kOther:
        return WriteOther(messages_[programs_.others[index].first], programs_.others[index].second,
                          fact, run);
      case Kind::kBreak:
        return WriteBreak(all_breaks_[index], fact, run);
      case Kind::kFailure:
        return WriteFailure(all_failures_[index], fact, run);
    }
    return absl::OkStatus();
  }

 private:
  enum class Kind : uint8_t { kProgram, kOther, kBreak, kFailure };
  struct Fact {
    Kind kind;
    size_t index;  // in the list of its kind
    int64_t number;
  };

  // Returns the recompilations that failed: the last one of the function before each failure.
  std::vector<size_t> FailedMessages() const {
    const auto place_of = [](const DynamoRecompile& message) {
      return SourcePlace{message.file, message.line, message.function};
    };
    std::vector<size_t> failed;
    size_t next = 0;
    std::map<std::pair<LogOrigin, SourcePlace>, size_t> last;
    for (const DynamoFailure& failure : all_failures_) {
      for (; next < messages_.size() && messages_[next].number < failure.number; ++next)
        last[{messages_[next].prefix.origin, place_of(messages_[next])}] = next;
      const auto found = last.find({failure.prefix.origin, failure.function});
      if (found != last.end()) failed.push_back(found->second);
    }
    return failed;
  }

  // Finds what called each function: the frames around it in the stack of a graph break.
  void FindCallers() {
    for (const Break& one : all_breaks_) {
      if (!one.prefix.id || one.what.frames.empty()) continue;
      callers_.try_emplace({one.prefix.origin, one.prefix.id->frame}, one.what.frames);
    }
  }
  std::vector<Store::Frame> StackOf(const DynamoRecompile& message, int64_t frame) const {
    std::vector<Store::Frame> stack = {{.function = message.function,
                                        .file = message.file,
                                        .line = message.line,
                                        .owner = OwnerOf(message.file)}};
    const auto known = callers_.find({message.prefix.origin, frame});
    if (known == callers_.end()) return stack;
    const std::vector<Store::Frame>& frames = known->second;
    const auto function = std::ranges::find(frames, message.function, &Store::Frame::function);
    if (function != frames.end()) stack.insert(stack.end(), function + 1, frames.end());
    return stack;
  }

  // Returns the process of a message. torch.compile prints its number, and other dialects do not, so
  // the number distinguishes processes only if there are several.
  absl::StatusOr<LogProcesses::Process*> ProcessOf(const LogOrigin& origin, int run, int nth = 0) {
    LogOrigin told = origin;
    if (origins_.IsOnlyProcess(origin)) told.pid.reset();
    XP_TRY(LogProcesses::Process * process, nth == 0 ? reading_.processes.Nearest(run, told)
                                                     : reading_.processes.Of(run, told, nth));
    if (origin.pid && !told.pid && nth == 0 && numbered_.insert(process->id).second) {
      XP_TRY(reading_.context.store.Run("UPDATE process SET pid = ?2 WHERE id = ?1 AND pid IS NULL",
                                        process->id, *origin.pid));
    }
    return process;
  }

  absl::StatusOr<OptInt> SiteOf(const DynamoRecompile& message) {
    if (message.file.empty()) return OptInt();
    XP_TRY(const int64_t id,
           reading_.context.store.AddSite(message.function, message.file, message.line));
    return OptInt(id);
  }

  absl::Status WriteProgram(const DynamoProgram& program, int run) {
    const DynamoRecompile& message = messages_[program.message];
    ImportContext& context = reading_.context;
    XP_TRY(LogProcesses::Process * process, ProcessOf(message.prefix.origin, run, program.nth));
    GraphRow graph{.process_id = process->id,
                   .number = fmt::format("{}/{}", program.id.frame, program.id.program)};
    graph.name = message.function;
    XP_TRY(const int64_t graph_id, context.Add(graph, message.offset, message.number));
    CompileRow row{.process_id = process->id,
                   .ordinal = process->next_ordinal++,
                   .graph_id = graph_id,
                   .cause = CutKind::kCompiledFunction,
                   .function = message.function,
                   .inferred = program.is_named_only};
    const std::vector<Store::Frame> stack = StackOf(message, program.id.frame);
    XP_TRY(row.site_id, SiteOf(message));
    // The line that calls a library's function tells more.
    const Store::Frame* user = InnermostUser(stack);
    if (user != nullptr && !stack.front().is_user()) {
      XP_TRY(row.site_id, context.store.AddSite(user->function, user->file, user->line));
    }
    XP_TRY(row.stack_id, context.store.AddStack(stack));
    XP_TRY(const int64_t id, context.Add(row, message.offset, message.number));
    if (program.is_named_only) return absl::OkStatus();
    CompileReasonRow reason{.compile_id = id,
                            .idx = 0,
                            .stated_by = StatedBy::kGuard,
                            .type = program.reason.type,
                            .input = TextOrNull(program.reason.input),
                            .before = TextOrNull(program.reason.before),
                            .after = TextOrNull(program.reason.after),
                            .text = ToBoundedUtf8(program.reason.text)};
    if (!program.reason.place.empty()) {
      SourcePlace place = program.reason.place;
      // The end of a path is most likely that of the function's.
      if (!place.file.starts_with('/') && SourcePlace{message.file}.basename() == place.basename())
        place.file = message.file;
      if (std::string path = WholePathBeside(place.file, message.file); !path.empty())
        place.file = std::move(path);
      XP_TRY(reason.site_id,
             context.store.AddSite(place.function, place.file, place.line.value_or(0)));
    }
    return context.store.Add(reason).status();
  }

  absl::Status WriteOther(const DynamoRecompile& message, const GuardFailure* failure, size_t fact,
                          int run) {
    XP_TRY(const LogProcesses::Process* process, ProcessOf(message.prefix.origin, run));
    DynamoRecompileRow row{.process_id = process->id,
                           .ordinal = int64_t(fact),
                           .function = message.function,
                           .programs = message.limit};
    if (message.prefix.id && !message.is_limit) row.earlier = message.prefix.id->program;
    if (failure != nullptr) row.reason = TextOfFailure(*failure);
    XP_TRY(row.site_id, SiteOf(message));
    return reading_.context.Add(row, message.offset, message.number).status();
  }

  absl::Status WriteBreak(const Break& one, size_t fact, int run) {
    XP_TRY(const LogProcesses::Process* process, ProcessOf(one.prefix.origin, run));
    ImportContext& context = reading_.context;
    GraphBreakRow row{.process_id = process->id,
                      .ordinal = int64_t(fact),
                      .type = one.what.type,
                      .reason = one.what.reason};
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

  absl::Status WriteFailure(const DynamoFailure& one, size_t fact, int run) {
    XP_TRY(const LogProcesses::Process* process, ProcessOf(one.prefix.origin, run));
    ImportContext& context = reading_.context;
    CompileFailureRow row{
        .process_id = process->id, .ordinal = int64_t(fact), .function = one.function.function};
    SetFailure(one.error, one.text, row);
    XP_TRY(row.site_id, context.store.AddSite(one.function.function, one.function.file,
                                              one.function.line.value_or(0)));
    return context.Add(row, one.offset, one.number).status();
  }

  LogReading& reading_;
  DynamoRecompileReader recompiles_;
  DynamoFailureReader failures_;
  BreakReader breaks_;
  GuardReader guards_;
  DynamoEnd end_;
  DynamoOrigins origins_;
  std::vector<DynamoRecompile> messages_;
  std::vector<Break> all_breaks_;
  std::vector<DynamoFailure> all_failures_;
  DynamoPrograms programs_;                                                     // of messages_
  std::map<std::pair<LogOrigin, int64_t>, std::vector<Store::Frame>> callers_;  // by function
  std::set<int64_t> numbered_;  // processes whose number is written
  std::vector<Fact> all_;       // in the order of their lines
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
