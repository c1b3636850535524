#include "profiler/import/xspace/xspace_facts.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <variant>

#include "base/jax_module.h"
#include "base/numbers.h"
#include "profiler/import/graph/jit_call_site.h"

namespace xlaprof {
namespace {

// Deeper nesting, or a longer path of scopes, is not genuine. Climbing all of it from each event
// would take forever.
constexpr int kMaxNesting = 256;
constexpr size_t kLongPathBytes = 4096;
// Modules of TorchTPU begin with this. It compiles graphs of its own accord, not calls of functions.
constexpr std::string_view kTorchtpuModule = "tt_jit_";

bool Inside(int64_t ts_ns, int64_t begin_ns, int64_t end_ns) {
  return ts_ns >= begin_ns && ts_ns < std::max(end_ns, begin_ns + 1);
}

bool IsCompile(XRole role) {
  return role == XRole::kGraphCompile || role == XRole::kClientCompile ||
         role == XRole::kJaxCompile || role == XRole::kXlaCompile;
}

}  // namespace

void XFacts::AddDeviceStep(int64_t ts_ns, int64_t end_ns, StringId name, int64_t offset,
                           StringId device) {
  device_steps_.push_back({ts_ns, end_ns, name, device, offset});
}

uint32_t XFacts::Program(OptInt program_id, StringId device) {
  auto [it, is_new] =
      program_ids_.emplace(std::pair(program_id, device), uint32_t(programs_.size()));
  if (is_new) programs_.push_back({program_id, device});
  return it->second;
}

int64_t XFacts::GraphOfProgram(OptInt program_id) const {
  if (!program_id) return 0;
  auto found = graph_of_program_.find(*program_id);
  return found == graph_of_program_.end() ? 0 : found->second;
}

absl::Status XFacts::WriteSteps() {
  XP_TRY(int64_t process_id, context_.ProcessId());
  int64_t ordinal = 0;
  auto add = [&](StepRow row, int64_t offset) -> absl::Status {
    row.process_id = process_id;
    row.ordinal = ordinal++;
    XP_TRY(int64_t id, context_.Add(row, offset));
    steps_.push_back({id, *row.ts_ns, *row.ts_ns + *row.dur_ns});
    return absl::OkStatus();
  };
  for (const XMark& mark : marks_) {
    if (mark.role != XRole::kStep) continue;
    OptInt number;
    if (mark.number >= 0) number = mark.number;
    XP_TRY(add({.number = number,
                .name = std::string(context_.store.Text(mark.name)),
                .ts_ns = mark.ts_ns,
                .dur_ns = mark.end_ns - mark.ts_ns},
               mark.offset));
  }
  if (!steps_.empty() || device_steps_.empty()) return absl::OkStatus();
  // Devices step together, so the steps of the first one are taken for all.
  StringId device = device_steps_[0].device;
  std::stable_sort(device_steps_.begin(), device_steps_.end(),
                   [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  for (const DeviceStep& step : device_steps_) {
    if (step.device != device) continue;
    std::string_view text = context_.store.Text(step.name);
    XP_TRY(add({.number = ParseInteger(text),
                .name = std::string(text),
                .ts_ns = step.ts_ns,
                .dur_ns = step.end_ns - step.ts_ns},
               step.offset));
  }
  return absl::OkStatus();
}

const XFacts::Step* XFacts::StepAt(int64_t ts_ns) const {
  // Steps follow each other and seldom nest, so this is the last one that began before, or one of
  // the few before that.
  auto after = std::upper_bound(steps_.begin(), steps_.end(), ts_ns,
                                [](int64_t ts, const Step& step) { return ts < step.ts_ns; });
  for (int tries = 0; after != steps_.begin() && tries < 8; ++tries) {
    --after;
    if (Inside(ts_ns, after->ts_ns, after->end_ns)) return &*after;
  }
  return nullptr;
}

void XFacts::FindParents() {
  parents_.assign(marks_.size(), -1);
  absl::flat_hash_map<int64_t, std::vector<int32_t>> open;
  bool has_steps = false;
  for (int32_t i = 0; i < int32_t(marks_.size()); ++i) {
    const XMark& mark = marks_[size_t(i)];
    Extent& extent = extents_[mark.track_id];
    extent.first_end_ns = std::min(extent.first_end_ns, mark.end_ns);
    extent.last_begin_ns = std::max(extent.last_begin_ns, mark.ts_ns);
    std::vector<int32_t>& stack = open[mark.track_id];
    while (!stack.empty() && marks_[size_t(stack.back())].end_ns < mark.end_ns) stack.pop_back();
    while (!stack.empty() && marks_[size_t(stack.back())].end_ns <= mark.ts_ns &&
           mark.end_ns > mark.ts_ns)
      stack.pop_back();
    if (!stack.empty()) parents_[size_t(i)] = stack.back();
    stack.push_back(i);
    if (mark.role == XRole::kScope || mark.role == XRole::kStep) {
      scopes_of_track_[mark.track_id].push_back(i);
      if (main_track_id_ == 0 || (mark.role == XRole::kStep && !has_steps))
        main_track_id_ = mark.track_id;
      has_steps |= mark.role == XRole::kStep;
    }
    has_calls_ |= mark.role == XRole::kCall;
    if (mark.role == XRole::kStepMark) {
      if (const XMark* step = Around(mark, XRole::kStep))
        last_step_mark_[int32_t(step - marks_.data())] = i;
    }
  }
}

std::string XFacts::ScopeAt(int64_t ts_ns, int64_t track_id) const {
  auto found = scopes_of_track_.find(track_id);
  if (found == scopes_of_track_.end()) found = scopes_of_track_.find(main_track_id_);
  if (found == scopes_of_track_.end()) return "";
  const std::vector<int32_t>& scopes = found->second;
  auto after = std::upper_bound(scopes.begin(), scopes.end(), ts_ns, [&](int64_t ts, int32_t i) {
    return ts < marks_[size_t(i)].ts_ns;
  });
  if (after == scopes.begin()) return "";
  std::string path;
  int32_t i = *(after - 1);
  for (int depth = 0; i >= 0 && depth < kMaxNesting && path.size() < kLongPathBytes;
       ++depth, i = parents_[size_t(i)]) {
    const XMark& mark = marks_[size_t(i)];
    if ((mark.role != XRole::kScope && mark.role != XRole::kStep) ||
        !Inside(ts_ns, mark.ts_ns, mark.end_ns))
      continue;
    std::string_view name = context_.store.Text(mark.name);
    path = path.empty() ? std::string(name) : fmt::format("{}/{}", name, path);
  }
  return path;
}

const XMark* XFacts::Around(const XMark& mark, XRole role) const {
  int32_t i = parents_[size_t(&mark - marks_.data())];
  for (int depth = 0; i >= 0 && depth < kMaxNesting; ++depth, i = parents_[size_t(i)]) {
    if (marks_[size_t(i)].role == role) return &marks_[size_t(i)];
  }
  return nullptr;
}

// Returns whether a call may have a caller that the profile does not show. The profiler records only
// calls that begin and end while it runs, so the first and the last call on a thread may be parts of
// longer ones.
bool XFacts::MayHaveCaller(const XMark& mark) const {
  if (parents_[size_t(&mark - marks_.data())] >= 0) return false;
  const Extent& extent = extents_.find(mark.track_id)->second;
  return extent.first_end_ns > mark.ts_ns || extent.last_begin_ns < mark.end_ns;
}

// Returns why torch_xla evaluated, judging by what is open on the thread. Outside a step mark, a
// value was read. The mark that StepTrace makes as it ends is the last one inside its step.
CutKind XFacts::CauseAt(const XMark& mark) const {
  const XMark* step_mark = Around(mark, XRole::kStepMark);
  if (step_mark == nullptr) {
    const XMark* sync = Around(mark, XRole::kSync);
    return sync != nullptr && !MayHaveCaller(*sync) ? CutKind::kValueAccess : CutKind::kUnknown;
  }
  const XMark* step = Around(*step_mark, XRole::kStep);
  if (step == nullptr) return CutKind::kSync;
  auto last = last_step_mark_.find(int32_t(step - marks_.data()));
  return last != last_step_mark_.end() && &marks_[size_t(last->second)] == step_mark
             ? CutKind::kStepTraceExit
             : CutKind::kSync;
}

// Finds the real compilations. One compilation is seen as torch_xla's, inside that as its client's,
// and inside that as XLA's; JAX's runs XLA's on a thread of its own. Therefore a compilation counts
// only if no other one of the same thread contains it. A compilation of XLA counts only if none of
// any thread contains it.
void XFacts::FindCompiles() {
  // The time until which a compile is open, on each track and on any. Marks come by (start, -end),
  // so one that ends no later than an open one is inside it.
  absl::flat_hash_map<int64_t, int64_t> open_until;
  int64_t any_open_until = INT64_MIN;
  for (const XMark& mark : marks_) {
    if (!IsCompile(mark.role)) continue;
    int64_t& here = open_until.try_emplace(mark.track_id, INT64_MIN).first->second;
    const int64_t until = mark.role == XRole::kXlaCompile ? any_open_until : here;
    const bool inside = until >= mark.end_ns && until > mark.ts_ns;
    here = std::max(here, mark.end_ns);
    any_open_until = std::max(any_open_until, mark.end_ns);
    if (inside) continue;
    compiles_of_track_[mark.track_id].push_back(uint32_t(compiles_.size()));
    compiles_.push_back(
        {.mark = &mark, .hash = mark.role == XRole::kGraphCompile ? mark.text : StringId(0)});
  }
  NameModules();
}

const XFacts::Compile* XFacts::LastCompile(int64_t track_id, int64_t from_ns, int64_t to_ns) const {
  auto found = compiles_of_track_.find(track_id);
  if (found == compiles_of_track_.end()) return nullptr;
  auto after =
      std::upper_bound(found->second.begin(), found->second.end(), to_ns,
                       [&](int64_t ts, uint32_t i) { return ts < compiles_[i].mark->ts_ns; });
  if (after == found->second.begin()) return nullptr;
  const Compile& last = compiles_[*(after - 1)];
  return last.mark->ts_ns >= from_ns ? &last : nullptr;
}

// Finds the names of modules. An event inside the compile gives the name, on the same thread or on
// one of the compiler's.
void XFacts::NameModules() {
  std::vector<int64_t> ends;  // the latest end of the compiles up to each one
  for (const Compile& compile : compiles_)
    ends.push_back(std::max(ends.empty() ? INT64_MIN : ends.back(), compile.mark->end_ns));
  for (const XMark& mark : marks_) {
    if (mark.role != XRole::kModule || mark.text == 0) continue;
    // On one track, compiles that begin later also end later, because otherwise they would be
    // inside another.
    const Compile* around = LastCompile(mark.track_id, INT64_MIN, mark.ts_ns);
    if (around == nullptr || around->mark->end_ns < mark.end_ns) {
      size_t first = size_t(std::lower_bound(ends.begin(), ends.end(), mark.end_ns) - ends.begin());
      around = first < compiles_.size() && compiles_[first].mark->ts_ns <= mark.ts_ns
                   ? &compiles_[first]
                   : nullptr;
    }
    if (around == nullptr) continue;
    Compile& compile = compiles_[size_t(around - compiles_.data())];
    if (compile.module == 0) compile.module = mark.text;
  }
}

// Joins compiles with graphs. Modules carry no hash. XLA numbers programs in the order in which
// they are compiled, so the compiles of the window are the last of the modules, in order. They are
// aligned from the end, and only while the names agree. If program ids are fingerprints (TPU), a
// name that only one module has decides.
absl::Status XFacts::JoinGraphs() {
  std::vector<Graph*> by_program;
  for (Graph& graph : graphs_) by_program.push_back(&graph);
  std::sort(by_program.begin(), by_program.end(),
            [](const Graph* a, const Graph* b) { return a->program_id < b->program_id; });
  // Numbers that count stay small, while fingerprints are 64-bit hashes.
  constexpr int64_t kLargestCount = int64_t(1) << 32;
  bool counted = !by_program.empty() && by_program.front()->program_id >= OptInt(0) &&
                 by_program.back()->program_id < kLargestCount;
  int64_t unsure = 0;
  if (counted) {
    size_t c = compiles_.size(), g = by_program.size();
    while (c > 0 && g > 0) {
      Compile& compile = compiles_[c - 1];
      Graph& graph = *by_program[g - 1];
      if (compile.module == 0 || context_.store.Text(compile.module) != graph.graph.name) break;
      compile.graph_id = graph.graph.graph_id;
      compile.program_id = graph.program_id;
      --c, --g;
    }
  }
  // JAX names a module after its function, even if no event inside the compile names the module.
  struct Called {
    int times = 0;
    const Graph* graph = nullptr;
  };
  std::map<std::string, Called> graphs_called;
  std::map<std::string, int> compiles_called;
  auto module_of = [&](const Compile& compile) -> std::string {
    if (compile.module != 0) return std::string(context_.store.Text(compile.module));
    const XMark* call =
        compile.mark->role == XRole::kJaxCompile ? Around(*compile.mark, XRole::kCall) : nullptr;
    return call == nullptr ? ""
                           : fmt::format("jit_{}", JittedFunction(context_.store.Text(call->name)));
  };
  for (const Graph& graph : graphs_) {
    Called& called = graphs_called[graph.graph.name];
    ++called.times, called.graph = &graph;
  }
  for (const Compile& compile : compiles_) ++compiles_called[module_of(compile)];
  for (Compile& compile : compiles_) {
    std::string module = module_of(compile);
    if (compile.graph_id != 0 || module.empty() || compiles_called[module] != 1) continue;
    auto found = graphs_called.find(module);
    if (found == graphs_called.end() || found->second.times != 1) continue;
    const Graph& graph = *found->second.graph;
    compile.graph_id = graph.graph.graph_id, compile.program_id = graph.program_id;
  }
  XP_TRY(int64_t process_id, context_.ProcessId());
  for (Compile& compile : compiles_) {
    const std::string module(ModuleInCompile(context_.store.Text(compile.mark->name)));
    if (compile.graph_id != 0 || !module.starts_with(kTorchtpuModule)) continue;
    compile.is_torchtpu = true;
    XP_TRY(compile.module, context_.store.Intern(module));
    XP_TRY(compile.graph_id,
           context_.Add(GraphRow{.process_id = process_id, .name = module}, compile.mark->offset));
  }
  absl::flat_hash_map<StringId, int64_t> graph_of_hash;  // by hash, among the compiles so far
  for (Compile& compile : compiles_) {
    if (compile.graph_id != 0 && compile.hash != 0) {
      XP_TRY(context_.store.Run("UPDATE graph SET hash = ?2 WHERE id = ?1", compile.graph_id,
                                context_.store.Text(compile.hash)));
      graph_of_hash[compile.hash] = compile.graph_id;
    }
    if (compile.graph_id != 0) continue;
    if (!graphs_.empty()) ++unsure;
    if (compile.hash == 0) continue;
    int64_t& graph_id = graph_of_hash[compile.hash];
    compile.graph_id = graph_id;
    if (compile.graph_id == 0) {
      XP_TRY(compile.graph_id,
             context_.Add(GraphRow{.process_id = process_id,
                                   .hash = std::string(context_.store.Text(compile.hash))},
                          compile.mark->offset));
      graph_id = compile.graph_id;
    }
  }
  if (unsure > 0) {
    XP_TRY(context_.Issue(
        "module_not_joined", Severity::kInfo,
        "Compilations could not be matched to an HLO module of the capture. Their reason is looked up in other sources.",
        {}, {}, unsure));
  }
  return absl::OkStatus();
}

// Adds one row per copy: the client's own events if there are any, otherwise those of JAX's Python
// side.
void XFacts::FindTransfers(std::vector<Row>& rows) {
  auto client = [](XRole role) {
    return role == XRole::kToDevice || role == XRole::kFromDevice || role == XRole::kDeviceToDevice;
  };
  bool has_client = std::any_of(marks_.begin(), marks_.end(),
                                [&](const XMark& mark) { return client(mark.role); });
  std::map<int64_t, int64_t> busy_until;  // by track; nested copies are parts
  std::map<int64_t, size_t> last;         // by track: the last copy to a device in `rows`
  for (const XMark& mark : marks_) {
    if (mark.role == XRole::kHostBuffer && mark.number >= 0) {
      const auto copy = last.find(mark.track_id);
      if (copy == last.end() || mark.end_ns > busy_until[mark.track_id]) continue;
      TransferRow& out = std::get<TransferRow>(rows[copy->second].fact);
      out.bytes = out.bytes.value_or(0) + mark.number;
      continue;
    }
    bool to = mark.role == XRole::kToDevice || mark.role == XRole::kPut,
         from = mark.role == XRole::kFromDevice || mark.role == XRole::kFetch;
    if (has_client ? !client(mark.role) : !(to || from)) continue;
    int64_t& until = busy_until.try_emplace(mark.track_id, INT64_MIN).first->second;
    if (mark.ts_ns < until) continue;
    until = mark.end_ns;
    Row row{.ts_ns = mark.ts_ns, .fact = TransferRow(), .offset = mark.offset};
    TransferRow& out = std::get<TransferRow>(row.fact);
    out.direction = to     ? Direction::kToDevice
                    : from ? Direction::kFromDevice
                           : Direction::kDeviceToDevice;
    if (mark.number >= 0) out.bytes = mark.number;
    out.ts_ns = mark.ts_ns;
    out.dur_ns = mark.end_ns - mark.ts_ns;
    if (const Step* step = StepAt(mark.ts_ns)) out.step_id = step->id;
    if (std::string scope = mark.front ? ScopeAt(mark.ts_ns, mark.track_id) : ""; !scope.empty())
      out.scope = std::move(scope);
    out.track_id = mark.track_id;
    if (to && !out.bytes) {
      last[mark.track_id] = rows.size();
    } else {
      last.erase(mark.track_id);
    }
    rows.push_back(std::move(row));
  }
}

// Moves the facts that the reader has found to `rows`, with their step and scope.
void XFacts::PlaceGiven(std::vector<Row>& rows) {
  for (Row& row : given_) {
    const Step* step = StepAt(row.ts_ns);
    if (CompileRow* compile = std::get_if<CompileRow>(&row.fact)) {
      if (step != nullptr) compile->step_id = step->id;
    } else if (ExecutionRow* execution = std::get_if<ExecutionRow>(&row.fact)) {
      if (step != nullptr) execution->step_id = step->id;
      if (std::string scope = ScopeAt(row.ts_ns, execution->track_id.value_or(0)); !scope.empty())
        execution->scope = std::move(scope);
    }
    rows.push_back(std::move(row));
  }
  given_.clear();
}

absl::Status XFacts::Write() {
  std::sort(marks_.begin(), marks_.end(), [](const XMark& a, const XMark& b) {
    return std::tuple(a.ts_ns, -a.end_ns, a.track_id, a.role) <
           std::tuple(b.ts_ns, -b.end_ns, b.track_id, b.role);
  });
  FindParents();
  XP_TRY(WriteSteps());
  FindCompiles();
  XP_TRY(JoinGraphs());
  std::vector<Row> rows;
  absl::flat_hash_map<int64_t, const Store::Frame*> call_sites;  // by graph
  for (const Graph& graph : graphs_) {
    if (!graph.graph.call_site.file.empty())
      call_sites.emplace(graph.graph.graph_id, &graph.graph.call_site);
  }
  for (const Compile& compile : compiles_) {
    const XMark& mark = *compile.mark;
    Row row{.ts_ns = mark.ts_ns, .fact = CompileRow(), .offset = mark.offset};
    CompileRow& out = std::get<CompileRow>(row.fact);
    if (compile.graph_id != 0) out.graph_id = compile.graph_id;
    out.ts_ns = mark.ts_ns;
    out.dur_ns = mark.end_ns - mark.ts_ns;
    out.dur_from = TimeSource::kProfile;
    bool lazy = mark.role == XRole::kGraphCompile || mark.role == XRole::kClientCompile;
    out.cause = IfKnown(lazy                  ? CauseAt(mark)
                        : compile.is_torchtpu ? CutKind::kUnknown
                                              : CutKind::kCall);
    if (compile.is_torchtpu)
      out.function =
          std::string(context_.store.Text(compile.module).substr(kTorchtpuModule.size()));
    if (!lazy && !compile.is_torchtpu) {
      std::string_view function = compile.module != 0
                                      ? FunctionOfModule(context_.store.Text(compile.module))
                                      : std::string_view();
      if (const XMark* call = function.empty() ? Around(mark, XRole::kCall) : nullptr)
        function = JittedFunction(context_.store.Text(call->name));
      if (!function.empty()) out.function = std::string(function);
      if (auto site = call_sites.find(compile.graph_id); site != call_sites.end()) {
        XP_TRY(out.site_id, context_.store.AddSite(site->second->function, site->second->file,
                                                   site->second->line));
      }
    }
    if (const Step* step = StepAt(mark.ts_ns)) out.step_id = step->id;
    out.track_id = mark.track_id;
    rows.push_back(std::move(row));
  }
  FindExecutions(rows);
  FindTransfers(rows);
  PlaceGiven(rows);
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::pair(a.ts_ns, a.fact.index()) < std::pair(b.ts_ns, b.fact.index());
  });
  XP_TRY(int64_t process_id, context_.ProcessId());
  for (Row& row : rows) {
    int64_t ordinal = context_.NextOrdinal();
    XP_TRY(std::visit(
        [&](auto& fact) -> absl::Status {
          fact.process_id = process_id;
          fact.ordinal = ordinal;
          return internal::ToStatus(context_.Add(fact, row.offset));
        },
        row.fact));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
