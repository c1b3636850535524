#include "profiler/import/torch/trace_compiles.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/numbers.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch/dynamo_graph.h"
#include "profiler/import/torch/guard_history.h"
#include "profiler/import/torch/trace_json.h"
#include "profiler/import/torch/trace_records.h"

namespace xlaprof {
namespace {

using trace_json::At;
using trace_json::IntOf;
using trace_json::Json;
using trace_json::TextOf;

OptInt NsOfMicroseconds(const Json& us) { return trace_json::NsOf(us, 1000); }

class Reader {
 public:
  explicit Reader(std::string_view log) : records_(log) {}

  TraceCompiles Run(const std::function<void(size_t)>& progress) {
    TraceRecord record;
    while (records_.Next(&record)) {
      ++out_.records;
      Take(record);
      if (out_.records % 1024 == 0) progress(size_t(record.offset));
    }
    out_.odd_lines = records_.odd_lines(), out_.first_odd_line = records_.first_odd_line();
    out_.is_cut = records_.is_cut();
    for (Open& open : compiles_) Complete(open);
    ShareCallers();
    ChooseReasons();
    for (Open& open : compiles_) out_.compiles.push_back(std::move(open.compile));
    if (torchtpu_.odd_records() > 0 && out_.odd_records == 0)
      out_.first_odd_record_line = torchtpu_.first_odd_line();
    out_.odd_records += torchtpu_.odd_records();
    out_.torchtpu_cuts = torchtpu_.Finish();
    return std::move(out_);
  }

 private:
  // What the log shows of one program so far.
  struct Open {
    TraceCompile compile;
    std::vector<GuardFailure> failures;  // in the order of the log: the program that ran last first
    std::map<std::string, std::string>
        values;                       // by name: what the program's guards compare it with
    std::set<std::string> dynamic;    // names of sizes and numbers for which it takes any value
    std::string_view graph;           // payload with the graph as Dynamo made it
    std::vector<Store::Frame> outer;  // of another record: the whole stack, innermost first
    int64_t probe_ns = 0;  // trials of the C++ compiler, which are part of code generation
  };
  using Id = std::pair<int64_t, int64_t>;  // frame and program

  void Take(const TraceRecord& record) {
    if (torchtpu_.Take(record)) {
      if (!out_.pid && record.pid > 0) out_.pid = record.pid;
      return;
    }
    static const absl::flat_hash_map<std::string_view,
                                     void (Reader::*)(const TraceRecord&, const Json&)>
        kTakers = {{"str", &Reader::TakeName},
                   {"string_table", &Reader::TakeNames},
                   {"dynamo_start", &Reader::TakeStart},
                   {"compilation_metrics", &Reader::TakeMetrics},
                   {"bwd_compilation_metrics", &Reader::TakeBackward},
                   {"create_symbol", &Reader::TakeSymbol},
                   {"symbolic_shape_specialization", &Reader::TakeSpecialization},
                   {"dynamo_cpp_guards_str", &Reader::TakeGuards},
                   {"dynamo_output_graph", &Reader::TakeGraph},
                   {"chromium_event", &Reader::TakeEvent},
                   {"artifact", &Reader::TakeArtifact}};
    const auto taker = kTakers.find(record.type);
    if (taker == kTakers.end() || IsUnusedEvent(record)) return;
    const Json header = Json::parse(record.header, nullptr, /*allow_exceptions=*/false);
    if (!header.is_object()) {
      if (out_.odd_records++ == 0) out_.first_odd_record_line = record.line;
      return;
    }
    if (!out_.pid && record.pid > 0) out_.pid = record.pid;
    if (const OptInt rank = IntOf(At(header, "rank"))) out_.rank = rank;
    (this->*taker->second)(record, header);
  }

  // Returns the compile of a record, which is made at its first one; null if the record names none.
  Open* CompileOf(const TraceRecord& record, const Json& header) {
    const OptInt frame = IntOf(At(header, "frame_id")),
                 program = IntOf(At(header, "frame_compile_id"));
    if (!frame || !program) return nullptr;
    const auto [at, is_new] = index_.try_emplace(Id(*frame, *program), compiles_.size());
    if (is_new) {
      compiles_.push_back({.compile = {.frame = *frame,
                                       .program = *program,
                                       .offset = record.offset,
                                       .line = record.line}});
    }
    return &compiles_[at->second];
  }

  void TakeName(const TraceRecord&, const Json& header) {
    const Json& name = At(header, "str");
    if (!name.is_array() || name.size() < 2) return;
    const OptInt id = IntOf(name[1]);
    if (!id) return;
    SetName(*id, TextOf(name[0]));
  }

  void TakeNames(const TraceRecord&, const Json& header) {
    const Json& names = At(header, "string_table");
    if (!names.is_array()) return;
    for (size_t i = 0; i < names.size(); ++i) SetName(int64_t(i), TextOf(names[i]));
  }

  void SetName(int64_t id, std::string file) {
    constexpr size_t kMostAlike = 64;
    std::vector<std::string>& alike = files_by_base_[std::string(BaseOf(file))];
    if (alike.size() < kMostAlike && std::ranges::find(alike, file) == alike.end())
      alike.push_back(file);
    files_[id] = std::move(file);
  }

  // Returns the frames of a list, which is outermost first, innermost first.
  std::vector<Store::Frame> FramesOf(const Json& list) const {
    std::vector<Store::Frame> frames;
    if (!list.is_array()) return frames;
    for (const Json& one : list) {
      Store::Frame frame{.function = TextOf(At(one, "name")),
                         .line = IntOf(At(one, "line")).value_or(0)};
      const auto file = files_.find(IntOf(At(one, "filename")).value_or(-1));
      if (file != files_.end()) frame.file = file->second;
      frame.owner = OwnerOf(frame.file);
      frames.push_back(std::move(frame));
    }
    std::reverse(frames.begin(), frames.end());
    return frames;
  }

  // The stack begins with the function itself. An analysis that begins again writes it again.
  void TakeStart(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    std::vector<Store::Frame> frames = FramesOf(At(At(header, "dynamo_start"), "stack"));
    if (open == nullptr) return;
    open->compile.is_started = true;
    if (frames.empty() || !open->compile.function.file.empty()) return;
    open->compile.function = std::move(frames.front());
    open->compile.callers.assign(std::make_move_iterator(frames.begin() + 1),
                                 std::make_move_iterator(frames.end()));
  }

  // A symbol stands for a size or a number that became dynamic. Its stack holds the line that called,
  // which that of dynamo_start lacks.
  void TakeSymbol(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    const Json& symbol = At(header, "create_symbol");
    const std::string source = NameInFailures(TextOf(At(symbol, "source")));
    open->values.try_emplace(source, TextOf(At(symbol, "val")));
    open->dynamic.insert(source);
    if (open->outer.empty()) open->outer = FramesOf(At(symbol, "stack"));
  }

  // The code needs one value of what had become dynamic, as a loop over a range does.
  void TakeSpecialization(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    const Json& sources = At(At(header, "symbolic_shape_specialization"), "sources");
    if (open == nullptr || !sources.is_array()) return;
    for (const Json& source : sources) open->dynamic.erase(NameInFailures(TextOf(source)));
  }

  void TakeGraph(const TraceRecord& record, const Json& header) {
    if (Open* open = CompileOf(record, header)) open->graph = record.payload;
  }

  // Takes the values with which the program's guards compare numbers and texts.
  void TakeGuards(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    std::string_view text = record.payload;
    while (auto match = TakeEqualsMatch(&text))
      open->values.try_emplace(std::move(match->first), std::move(match->second));
  }

  void TakeArtifact(const TraceRecord& record, const Json& header) {
    const std::string name = TextOf(At(At(header, "artifact"), "name"));
    const std::optional<CacheAnswer> answer = ParseCacheAnswer(name, record.payload);
    if (name == "graph_execution") return TakeExecutions(record);
    if (!answer && name != "recompile_reasons" && name != "dynamo_graph_break_reason") return;
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    if (answer) return open->compile.caches.push_back(*answer);
    const std::string text = TextOfPayload(record.payload);
    if (name == "dynamo_graph_break_reason") return TakeBreak(record, text, *open);
    // A single reason is printed as it is since 2.15, and a list as JSON.
    const Json list = text.starts_with('[') ? Json::parse(text, nullptr, false) : Json();
    open->failures.clear();
    if (list.is_array()) {
      for (const Json& one : list) open->failures.push_back(ParseGuardFailure(TextOf(one)));
    } else if (!text.empty()) {
      open->failures.push_back(ParseGuardFailure(ToUtf8(text)));
    }
  }

  // The executions of Inductor's graphs, forward and backward alike:
  //   {"graph_execution_order": [{"compile_id": "0/0"}, {"compile_id": null}]}
  void TakeExecutions(const TraceRecord& record) {
    const Json list = Json::parse(TextOfPayload(record.payload), nullptr, false);
    const Json& order = At(list, "graph_execution_order");
    if (!order.is_array()) return;
    for (const Json& one : order) {
      TraceExecution execution{.offset = record.offset, .line = record.line};
      const std::string id = TextOf(At(one, "compile_id"));
      const size_t slash = std::min(id.find('/'), id.size());
      const OptInt frame = ParseCount(std::string_view(id).substr(0, slash));
      const OptInt program =
          ParseCount(std::string_view(id).substr(std::min(slash + 1, id.size())));
      if (frame && program) execution.program = {*frame, *program};
      out_.executions.push_back(execution);
    }
  }

  // The stack of a graph break holds the line that called, too. An analysis that begins again meets
  // the same break again.
  void TakeBreak(const TraceRecord& record, std::string_view text, Open& open) {
    std::optional<GraphBreak> found = ParseGraphBreak(text);
    if (!found) return;
    found->place.file = WholePath(found->place.file);
    for (Store::Frame& frame : found->frames) {
      frame.file = WholePath(frame.file);
      frame.owner = OwnerOf(frame.file);
    }
    if (open.outer.empty()) open.outer = found->frames;
    std::vector<TraceBreak>& breaks = open.compile.breaks;
    const bool is_known = std::ranges::any_of(breaks, [&](const TraceBreak& known) {
      return known.what.place == found->place && known.what.reason == found->reason;
    });
    if (!is_known)
      breaks.push_back({.what = *std::move(found), .offset = record.offset, .line = record.line});
  }

  void TakeMetrics(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    const Json& metrics = At(header, "compilation_metrics");
    TraceCompile& compile = open->compile;
    // A compile that was tried again under the same number has several.
    compile.failure = FailureOf(metrics);
    compile.has_ended = true;
    if (compile.failure && IsOfLimit(*compile.failure))
      compile.limit = LimitOf(metrics, compile.failure->text).value_or(compile.program);
    if (!compile.start_epoch_ns) {
      compile.start_epoch_ns = NsOfMicroseconds(At(metrics, "start_time_us"));
      if (const Json& start = At(metrics, "start_time");
          !compile.start_epoch_ns && start.is_number())
        compile.start_epoch_ns = NsOfMicroseconds(Json(start.get<double>() * 1e6));
    }
    if (compile.function.file.empty()) {
      compile.function.file = TextOf(At(metrics, "co_filename"));
      compile.function.owner = OwnerOf(compile.function.file);
    }
    if (compile.function.function.empty())
      compile.function.function = TextOf(At(metrics, "co_name"));
    if (compile.function.line == 0)
      compile.function.line = IntOf(At(metrics, "co_firstlineno")).value_or(0);
    if (open->failures.empty() && At(metrics, "recompile_reason").is_string())
      open->failures.push_back(ParseGuardFailure(TextOf(At(metrics, "recompile_reason"))));
    AddTimes(metrics, "dynamo_cumulative_compile_time_us", compile);
  }

  std::optional<TraceFailure> FailureOf(const Json& metrics) const {
    const Json& type = At(metrics, "fail_type");
    if (!type.is_string()) return {};
    TraceFailure failure{.error = TextOf(type), .text = TextOf(At(metrics, "fail_reason"))};
    failure.place.file = WholePath(TextOf(At(metrics, "fail_user_frame_filename")));
    failure.place.line = IntOf(At(metrics, "fail_user_frame_lineno"));
    return failure;
  }

  static bool IsOfLimit(const TraceFailure& failure) {
    return failure.error.ends_with("LimitExceeded") ||
           failure.text.starts_with("Dynamo recompile limit exceeded");
  }

  // Returns how many programs a function may have, which the message says since 2.15, and before
  // that the configuration.
  static OptInt LimitOf(const Json& metrics, std::string_view message) {
    constexpr std::string_view kSetTo = "(currently set to ";
    if (const size_t at = message.find(kSetTo); at != kNone) {
      const std::string_view number = message.substr(at + kSetTo.size());
      return ParseCount(number.substr(0, number.find(')')));
    }
    const Json config = Json::parse(TextOf(At(metrics, "dynamo_config")), nullptr, false);
    const OptInt limit = IntOf(At(config, "recompile_limit"));
    return limit ? limit : IntOf(At(config, "cache_size_limit"));
  }

  // Most events are not used. Their names are at the beginning of their payloads.
  static bool IsUnusedEvent(const TraceRecord& record) {
    if (record.type != "chromium_event") return false;
    constexpr size_t kNameEnds = 100;
    const std::string_view begin = record.payload.substr(0, kNameEnds);
    return begin.find(kCompileFile) == kNone && begin.find(kCodegen) == kNone;
  }

  // Inductor tries what the C++ compiler can do while it generates its first code. The trials are the
  // files that it compiles before there is any code.
  void TakeEvent(const TraceRecord& record, const Json& header) {
    const Json event = Json::parse(TextOfPayload(record.payload), nullptr, false);
    const std::string phase = TextOf(At(event, "ph"));
    const OptInt time_ns = NsOfMicroseconds(At(event, "ts"));
    Open* open = CompileOf(record, header);
    if (open == nullptr || !time_ns || (phase != "B" && phase != "E")) return;
    const bool begins = phase == "B";
    if (fmt::format("\"{}\"", TextOf(At(event, "name"))) == kCodegen) {
      generates_ = begins;
      return;
    }
    if (begins && generates_ && !trial_begin_ns_) trial_begin_ns_ = time_ns;
    if (begins || !trial_begin_ns_) return;
    open->probe_ns += std::max<int64_t>(*time_ns - *trial_begin_ns_, 0);
    trial_begin_ns_.reset();
  }

  void TakeBackward(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    AddTimes(At(header, "bwd_compilation_metrics"), "backward_cumulative_compile_time_us",
             open->compile);
  }

  // Adds the times of a record. Each of them contains the next: all of it, AOTAutograd, Inductor and
  // its code generation. The backward pass has no time of AOTAutograd.
  static void AddTimes(const Json& metrics, const char* whole, TraceCompile& compile) {
    OptInt all = NsOfMicroseconds(At(metrics, "duration_us"));
    if (!all) all = NsOfMicroseconds(At(metrics, whole));
    if (!all || *all < 0) return;
    compile.dur_ns = compile.dur_ns.value_or(0) + *all;
    const auto within = [&](const char* key, int64_t most) {
      return std::clamp(NsOfMicroseconds(At(metrics, key)).value_or(0), int64_t{0}, most);
    };
    const bool is_backward = At(metrics, "is_forward") == Json(false);
    const int64_t aot =
        is_backward ? *all : within("aot_autograd_cumulative_compile_time_us", *all);
    const int64_t inductor = within("inductor_cumulative_compile_time_us", aot);
    const int64_t code = within("inductor_code_gen_cumulative_compile_time_us", inductor);
    const auto add = [&](CompilePhase phase, int64_t ns) { compile.phase_ns[size_t(phase)] += ns; };
    add(CompilePhase::kDynamo, *all - aot);
    add(CompilePhase::kAotAutograd, aot - inductor);
    add(CompilePhase::kInductor, inductor - code);
    add(CompilePhase::kCodeGeneration, code);
  }

  static std::string_view BaseOf(std::string_view file) { return file.substr(file.rfind('/') + 1); }

  // Returns the whole path of a file of which only the end is printed; `end` itself if it is not
  // known, or if several paths have this end.
  std::string WholePath(const std::string& end) const {
    if (end.empty() || end.front() == '/') return end;
    const auto alike = files_by_base_.find(std::string(BaseOf(end)));
    if (alike == files_by_base_.end()) return PathBesideOthers(end);
    const std::string* found = nullptr;
    for (const std::string& file : alike->second) {
      if (!file.ends_with("/" + end)) continue;
      if (found != nullptr) return end;
      found = &file;
    }
    return found == nullptr ? PathBesideOthers(end) : *found;
  }
  // Does the same by the folders of the program's other files.
  std::string PathBesideOthers(const std::string& end) const {
    std::string found;
    for (const auto& [id, file] : files_) {
      if (!IsUserFile(file)) continue;
      std::string path = WholePathBeside(end, file);
      if (path.empty() || path == found) continue;
      if (!found.empty()) return end;
      found = std::move(path);
    }
    return found.empty() ? end : found;
  }
  // Does the same for a file that is most likely that of the function.
  std::string WholePath(const std::string& end, const Store::Frame& function) const {
    const std::string path = WholePath(end);
    if (path.empty() || path.front() == '/') return path;
    return BaseOf(function.file) == BaseOf(path) ? function.file : path;
  }

  // Adds to a compile what other records know of it.
  void Complete(Open& open) {
    TraceCompile& compile = open.compile;
    int64_t& code_ns = compile.phase_ns[size_t(CompilePhase::kCodeGeneration)];
    const int64_t probe_ns = std::min(open.probe_ns, code_ns);
    code_ns -= probe_ns;
    compile.phase_ns[size_t(CompilePhase::kToolchainProbe)] = probe_ns;
    if (HasUser(compile.callers) || open.outer.empty()) return;
    const auto function =
        std::ranges::find(open.outer, compile.function.function, &Store::Frame::function);
    if (function == open.outer.end()) return;
    compile.callers.assign(function + 1, open.outer.end());
  }

  static bool HasUser(const std::vector<Store::Frame>& frames) {
    return std::ranges::any_of(frames, &Store::Frame::is_user);
  }

  // Gives compiles whose function or callers are not known those of another compile of the same
  // function.
  void ShareCallers() {
    absl::flat_hash_map<int64_t, size_t> function, callers;  // a compile that knows them
    for (size_t i = 0; i < compiles_.size(); ++i) {
      const TraceCompile& compile = compiles_[i].compile;
      if (!compile.function.file.empty()) function.try_emplace(compile.frame, i);
      if (HasUser(compile.callers)) callers.try_emplace(compile.frame, i);
    }
    for (Open& open : compiles_) {
      TraceCompile& compile = open.compile;
      const auto same = function.find(compile.frame), called = callers.find(compile.frame);
      if (same != function.end() && compile.function.file.empty())
        compile.function = compiles_[same->second].compile.function;
      if (called != callers.end() && !HasUser(compile.callers))
        compile.callers = compiles_[called->second].compile.callers;
    }
  }

  void ChooseReasons() {
    for (const Open& open : compiles_) history_.Note(open.compile.frame, open.failures);
    for (Open& open : compiles_) {
      const GuardFailure* failure = history_.Choose(open.compile.id(), open.failures);
      if (failure == nullptr) continue;
      // PyTorch's warning about the limit names the program that ran last.
      if (open.compile.limit) failure = &open.failures.front();
      // All other programs that fail alike say the same.
      open.compile.reasons.push_back(ReasonOf(open, *failure));
    }
  }

  TraceReason ReasonOf(const Open& open, const GuardFailure& failure) {
    TraceReason reason{.failure = failure, .place = failure.place};
    reason.place.file = WholePath(reason.place.file, open.compile.function);
    GuardFailure& change = reason.failure;
    if (change.type == ReasonType::kShapeChange && change.dimension) {
      const auto earlier = index_.find(Id(open.compile.frame, change.program.value_or(-1)));
      std::optional<XlaShape> shape = ShapeInGraph(open.graph, change.input);
      if (!shape && earlier != index_.end())
        shape = ShapeInGraph(compiles_[earlier->second].graph, change.input);
      if (shape) {
        const auto before = WithSize(*shape, *change.dimension, change.before),
                   after = WithSize(*shape, *change.dimension, change.after);
        if (before && after) change.before = *before, change.after = *after;
      }
    }
    if (change.after.empty()) change.after = ValueOf(open, change);
    const std::string name = change.dimension
                                 ? fmt::format("{}.size()[{}]", change.input, *change.dimension)
                                 : change.input;
    reason.is_dynamic = open.dynamic.contains(name);
    return reason;
  }

  // Returns the value that a checked number or text has in a program: from its own guards, or from a
  // later failure of the program.
  std::string ValueOf(const Open& open, const GuardFailure& change) const {
    if (change.type != ReasonType::kConstantChange &&
        change.type != ReasonType::kInputStructureChange)
      return "";
    const auto own = open.values.find(change.input);
    return own != open.values.end() ? own->second : history_.ValueOf(open.compile.id(), change);
  }

  static constexpr std::string_view kCompileFile = "\"compile_file\"",
                                    kCodegen = "\"Scheduler.codegen\"";

  TraceRecords records_;
  TorchtpuCuts torchtpu_;
  TraceCompiles out_;
  bool generates_ = false;  // Inductor is generating code
  OptInt trial_begin_ns_;   // of the trial of the C++ compiler that is open
  absl::flat_hash_map<int64_t, std::string> files_;
  absl::flat_hash_map<std::string, std::vector<std::string>> files_by_base_;
  std::vector<Open> compiles_;
  std::map<Id, size_t> index_;  // in compiles_
  GuardHistory history_;
};

}  // namespace

TraceCompiles ReadTraceCompiles(std::string_view log, const std::function<void(size_t)>& progress) {
  return Reader(log).Run(progress);
}

}  // namespace xlaprof
