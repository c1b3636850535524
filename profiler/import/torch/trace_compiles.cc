#include "profiler/import/torch/trace_compiles.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "core/base/numbers.h"
#include "core/base/xla_shape.h"
#include "profiler/import/text/log_line.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/import/text/utf8.h"
#include "profiler/import/torch/trace_records.h"

namespace xlaprof {
namespace {

using Json = nlohmann::json;

// Returns the member of that name, or null if `object` has none or is no object.
const Json& At(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

OptInt IntOf(const Json& value) {
  if (value.is_number_integer()) return value.get<int64_t>();
  return {};
}

// Returns a time in nanoseconds that is printed in microseconds.
OptInt NsOf(const Json& us) {
  if (!us.is_number()) return {};
  const double ns = us.get<double>() * 1000;
  if (!(std::abs(ns) < 0x1p62)) return {};
  if (const OptInt whole = IntOf(us)) return *whole * 1000;
  return std::llround(ns);
}

std::string TextOf(const Json& value) {
  return value.is_string() ? ToUtf8(value.get_ref<const std::string&>()) : "";
}

// Returns the name of an input in a graph that Dynamo prints: L_x_ for L['x']. Dynamo replaces all
// characters in a row that a name cannot have by one mark.
std::string NameInGraph(std::string_view input) {
  // An input's own name is its first part: args for args[0].
  const size_t end = std::min(input.find_first_of(".["), input.size());
  const std::string source = fmt::format("L['{}']{}", input.substr(0, end), input.substr(end));
  std::string name;
  bool replaces = false;
  for (char c : source) {
    const bool is_word = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (is_word || !replaces) name += is_word ? c : '_';
    replaces = !is_word;
  }
  return name;
}

// Returns the shape f32[64,16] of an input that a graph prints as L_x_: "f32[64, 16][16, 1]cpu".
// Returns nothing if the graph does not have it.
std::optional<XlaShape> ShapeInGraph(std::string_view graph, std::string_view input) {
  if (input.empty()) return {};
  const std::string label = NameInGraph(input) + ": \"";
  const size_t at = graph.find(label);
  if (at == kNone) return {};
  std::string_view type = graph.substr(at + label.size());
  type = type.substr(0, std::min(type.find(']'), type.find('"')) + 1);
  std::string text;
  for (size_t i = 0; i < type.size(); ++i) {
    if (type[i] == ' ') continue;
    // A dimension that is dynamic is a symbol, such as s27.
    const bool is_symbol = i > 0 && (type[i - 1] == '[' || type[i - 1] == ' ') && type[i] == 's';
    if (is_symbol) {
      text += '?';
      while (i + 1 < type.size() && type[i + 1] != ',' && type[i + 1] != ']') ++i;
      continue;
    }
    text += type[i];
  }
  return XlaShape::Parse(text);
}

// Returns the shape with one dimension of that size; nothing if it does not have the dimension.
std::optional<std::string> WithSize(const XlaShape& shape, int64_t dimension,
                                    std::string_view size) {
  if (dimension < 0 || size_t(dimension) >= shape.rank() || !ParseCount(size)) return {};
  std::string text = fmt::format("{}[", shape.element_type());
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (d > 0) text += ',';
    if (d == size_t(dimension)) {
      text += size;
    } else if (shape.dimensions()[d] == XlaShape::kUnknownSize) {
      text += '?';
    } else {
      text += fmt::format("{}", shape.dimensions()[d]);
    }
  }
  return text + "]";
}

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
  };
  using Id = std::pair<int64_t, int64_t>;  // frame and program

  void Take(const TraceRecord& record) {
    static const absl::flat_hash_map<std::string_view,
                                     void (Reader::*)(const TraceRecord&, const Json&)>
        kTakers = {{"str", &Reader::TakeName},
                   {"dynamo_start", &Reader::TakeStart},
                   {"compilation_metrics", &Reader::TakeMetrics},
                   {"bwd_compilation_metrics", &Reader::TakeBackward},
                   {"create_symbol", &Reader::TakeSymbol},
                   {"symbolic_shape_specialization", &Reader::TakeSpecialization},
                   {"dynamo_cpp_guards_str", &Reader::TakeGuards},
                   {"dynamo_output_graph", &Reader::TakeGraph},
                   {"artifact", &Reader::TakeArtifact}};
    const auto taker = kTakers.find(record.type);
    if (taker == kTakers.end()) return;
    const Json header = Json::parse(record.header, nullptr, /*allow_exceptions=*/false);
    if (!header.is_object()) {
      if (out_.odd_records++ == 0) out_.first_odd_record_line = record.line;
      return;
    }
    if (!out_.pid) out_.pid = record.pid;
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
    std::string file = TextOf(name[0]);
    constexpr size_t kMostAlike = 64;
    std::vector<std::string>& alike = files_by_base_[std::string(BaseOf(file))];
    if (alike.size() < kMostAlike && std::ranges::find(alike, file) == alike.end())
      alike.push_back(file);
    files_[*id] = std::move(file);
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
      frame.is_user = IsUserFile(frame.file);
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

  // Takes the values with which the program's guards compare numbers and texts:
  //   | | | +- EQUALS_MATCH: L['self'].calls == 1                 # self.calls += 1  # ...
  void TakeGuards(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    constexpr std::string_view kMatch = "EQUALS_MATCH: ";
    const std::string_view text = record.payload;
    for (size_t at = text.find(kMatch); at != kNone; at = text.find(kMatch, at + 1)) {
      std::string_view check = text.substr(at + kMatch.size());
      check = check.substr(0, check.find('\n'));
      check = check.substr(0, check.find("  #"));
      const size_t equals = check.find(" == ");
      if (equals == kNone) continue;
      open->values.try_emplace(NameInFailures(check.substr(0, equals)),
                               ToUtf8(Trim(check.substr(equals + 4))));
    }
  }

  void TakeArtifact(const TraceRecord& record, const Json& header) {
    const std::string name = TextOf(At(At(header, "artifact"), "name"));
    out_.torchtpu_cuts += name == "torchtpu_eager_aten_graph";
    if (name == "graph_execution") return TakeExecutions(record);
    if (name != "recompile_reasons" && name != "dynamo_graph_break_reason") return;
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    const std::string text = TextOfPayload(record.payload);
    if (name == "dynamo_graph_break_reason") return TakeBreak(text, *open);
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

  // The stack of a graph break holds the line that called, too:
  //   User code traceback:
  //     File "train.py", line 22, in <module>
  void TakeBreak(std::string_view text, Open& open) const {
    constexpr std::string_view kBegin = "User code traceback:\n";
    const size_t begin = text.find(kBegin);
    if (begin == kNone || !open.outer.empty()) return;
    text = text.substr(begin + kBegin.size());
    for (Lines lines(text.substr(0, text.find("\n\n"))); lines.Next();) {
      std::optional<Store::Frame> frame = ParseTracebackFrame(lines.line());
      if (!frame) continue;
      frame->function = ToUtf8(frame->function);
      frame->file = WholePath(ToUtf8(frame->file));
      frame->is_user = IsUserFile(frame->file);
      open.outer.push_back(*std::move(frame));
    }
    std::ranges::reverse(open.outer);
  }

  void TakeMetrics(const TraceRecord& record, const Json& header) {
    Open* open = CompileOf(record, header);
    if (open == nullptr) return;
    const Json& metrics = At(header, "compilation_metrics");
    TraceCompile& compile = open->compile;
    // A compile that was tried again under the same number has several.
    compile.has_failed = At(metrics, "fail_type").is_string();
    if (!compile.start_epoch_ns) {
      compile.start_epoch_ns = NsOf(At(metrics, "start_time_us"));
      if (const Json& start = At(metrics, "start_time");
          !compile.start_epoch_ns && start.is_number())
        compile.start_epoch_ns = NsOf(Json(start.get<double>() * 1e6));
    }
    if (compile.function.file.empty()) {
      compile.function.file = TextOf(At(metrics, "co_filename"));
      compile.function.is_user = IsUserFile(compile.function.file);
    }
    if (compile.function.function.empty())
      compile.function.function = TextOf(At(metrics, "co_name"));
    if (compile.function.line == 0)
      compile.function.line = IntOf(At(metrics, "co_firstlineno")).value_or(0);
    if (open->failures.empty() && At(metrics, "recompile_reason").is_string())
      open->failures.push_back(ParseGuardFailure(TextOf(At(metrics, "recompile_reason"))));
    AddTimes(metrics, "dynamo_cumulative_compile_time_us", compile);
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
    OptInt all = NsOf(At(metrics, "duration_us"));
    if (!all) all = NsOf(At(metrics, whole));
    if (!all || *all < 0) return;
    compile.dur_ns = compile.dur_ns.value_or(0) + *all;
    const auto within = [&](const char* key, int64_t most) {
      return std::clamp(NsOf(At(metrics, key)).value_or(0), int64_t{0}, most);
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
    if (alike == files_by_base_.end()) return end;
    const std::string* found = nullptr;
    for (const std::string& file : alike->second) {
      if (!file.ends_with("/" + end)) continue;
      if (found != nullptr) return end;
      found = &file;
    }
    return found == nullptr ? end : *found;
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
    if (HasUser(compile.callers) || open.outer.empty()) return;
    const auto function =
        std::ranges::find(open.outer, compile.function.function, &Store::Frame::function);
    if (function == open.outer.end()) return;
    compile.callers.assign(function + 1, open.outer.end());
  }

  static bool HasUser(const std::vector<Store::Frame>& frames) {
    return std::ranges::any_of(frames, &Store::Frame::is_user);
  }

  // Gives compiles whose callers are not known those of another compile of the same function.
  void ShareCallers() {
    absl::flat_hash_map<int64_t, size_t> known;  // by function
    for (size_t i = 0; i < compiles_.size(); ++i) {
      if (HasUser(compiles_[i].compile.callers)) known.try_emplace(compiles_[i].compile.frame, i);
    }
    for (Open& open : compiles_) {
      const auto other = known.find(open.compile.frame);
      if (other != known.end() && !HasUser(open.compile.callers))
        open.compile.callers = compiles_[other->second].compile.callers;
    }
  }

  // Returns what a failure says, apart from the values.
  static std::string KeyOf(const GuardFailure& failure) {
    return fmt::format("{}|{}", failure.type, failure.input);
  }

  // Chooses among the failures of each compile. Each program fails at its first check, so a program
  // that was itself compiled for another value of x tells only that x is as it was before. The first
  // program that differs in something else than it was compiled for tells what changed.
  void ChooseReasons() {
    for (const Open& open : compiles_) {
      for (const GuardFailure& failure : open.failures) {
        if (failure.program)
          values_.try_emplace({Id(open.compile.frame, *failure.program), KeyOf(failure)},
                              failure.before);
      }
    }
    std::map<Id, std::string> compiled_for;  // key of the reason
    for (Open& open : compiles_) {
      const TraceCompile& compile = open.compile;
      std::vector<const GuardFailure*> order;
      for (const GuardFailure& failure : open.failures) {
        const auto known = compiled_for.find(Id(compile.frame, failure.program.value_or(-1)));
        if (known == compiled_for.end() || known->second != KeyOf(failure))
          order.push_back(&failure);
      }
      if (order.empty() && !open.failures.empty()) order.push_back(&open.failures.front());
      if (order.empty()) continue;
      compiled_for[Id(compile.frame, compile.program)] = KeyOf(*order.front());
      // All other programs that fail alike say the same.
      open.compile.reasons.push_back(ReasonOf(open, *order.front()));
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
    if (const auto own = open.values.find(change.input); own != open.values.end())
      return own->second;
    const auto value = values_.find({Id(open.compile.frame, open.compile.program), KeyOf(change)});
    return value == values_.end() ? "" : value->second;
  }

  TraceRecords records_;
  TraceCompiles out_;
  absl::flat_hash_map<int64_t, std::string> files_;
  absl::flat_hash_map<std::string, std::vector<std::string>> files_by_base_;
  std::vector<Open> compiles_;
  std::map<Id, size_t> index_;  // in compiles_
  // By program and key of a failure: the value that the program needs.
  std::map<std::pair<Id, std::string>, std::string> values_;
};

}  // namespace

TraceCompiles ReadTraceCompiles(std::string_view log, const std::function<void(size_t)>& progress) {
  return Reader(log).Run(progress);
}

}  // namespace xlaprof
