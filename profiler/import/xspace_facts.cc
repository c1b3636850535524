#include "profiler/import/xspace_facts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <tuple>
#include <variant>

namespace xlaprof {
namespace {

// What nests deeper, or has a longer path of scopes, was made up; climbing all of it from each
// event would take forever.
constexpr int kMaxNesting = 256;
constexpr size_t kLongPathBytes = 4096;

bool Inside(int64_t ts_ns, int64_t begin_ns, int64_t end_ns) {
  return ts_ns >= begin_ns && ts_ns < std::max(end_ns, begin_ns + 1);
}

bool IsCompile(XRole role) {
  return role == XRole::kGraphCompile || role == XRole::kClientCompile ||
         role == XRole::kJaxCompile || role == XRole::kXlaCompile;
}

}  // namespace

struct XFacts::Row {
  int64_t ts_ns = 0;
  // In the order of facts that begin together.
  std::variant<CompileRow, ExecutionRow, TransferRow> fact;
  int64_t offset = 0;
};

void XFacts::AddDeviceStep(int64_t ts_ns, int64_t end_ns, StringId name, int64_t offset,
                           StringId device) {
  device_steps_.push_back({ts_ns, end_ns, name, device, offset});
}

uint32_t XFacts::Program(int64_t program_id, StringId device) {
  auto [it, is_new] =
      program_ids_.emplace(std::pair(program_id, device), uint32_t(programs_.size()));
  if (is_new) programs_.push_back({program_id, device});
  return it->second;
}

int64_t XFacts::GraphOfProgram(int64_t program_id) const {
  auto found = graph_of_program_.find(program_id);
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
  // Devices step together: those of the first one stand for all.
  StringId device = device_steps_[0].device;
  std::stable_sort(device_steps_.begin(), device_steps_.end(),
                   [](const auto& a, const auto& b) { return a.ts_ns < b.ts_ns; });
  for (const DeviceStep& step : device_steps_) {
    if (step.device != device) continue;
    std::string_view text = context_.store.Text(step.name);
    int64_t value = 0;
    OptInt number;
    if (auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        error == std::errc() && end == text.data() + text.size()) {
      number = value;
    }
    XP_TRY(add({.number = number,
                .name = std::string(text),
                .ts_ns = step.ts_ns,
                .dur_ns = step.end_ns - step.ts_ns},
               step.offset));
  }
  return absl::OkStatus();
}

const XFacts::Step* XFacts::StepAt(int64_t ts_ns) const {
  // Steps follow each other and seldom nest: the last one that began before, or one of the few
  // before that.
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

// Why torch_xla evaluated, from what is open on the thread: outside a step mark somebody read a
// value. The mark that StepTrace makes as it ends is the last one inside its step.
std::string XFacts::CauseAt(const XMark& mark) const {
  const XMark* step_mark = Around(mark, XRole::kStepMark);
  if (step_mark == nullptr) return Around(mark, XRole::kSync) != nullptr ? "value_access" : "";
  const XMark* step = Around(*step_mark, XRole::kStep);
  if (step == nullptr) return "sync";
  auto last = last_step_mark_.find(int32_t(step - marks_.data()));
  return last != last_step_mark_.end() && &marks_[size_t(last->second)] == step_mark
             ? "step_trace_exit"
             : "sync";
}

// One row a real compilation. The same one is seen as torch_xla's, inside it its client's, inside
// that XLA's; JAX's runs XLA's on a thread of its own. So: those that lie in no other one of the
// same thread, and of XLA's those that lie in none at all.
void XFacts::FindCompiles() {
  // Until when a compile is open, on each track and on any. Marks come by (start, -end), so one
  // that ends no later than an open one lies in it.
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

// A module's name is told by an event inside its compile, on the same thread or on one of the
// compiler's.
void XFacts::NameModules() {
  std::vector<int64_t> ends;  // the latest end of the compiles up to each
  for (const Compile& compile : compiles_)
    ends.push_back(std::max(ends.empty() ? INT64_MIN : ends.back(), compile.mark->end_ns));
  for (const XMark& mark : marks_) {
    if (mark.role != XRole::kModule || mark.text == 0) continue;
    // On one track compiles that begin later end later, or they would lie in another.
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

// Modules carry no hash. XLA numbers programs in the order in which they are compiled, so the
// compiles of the window are the last of the modules, in order: aligned from the end, and only
// while the names agree. Where program ids are fingerprints (TPU) a name that only one module has
// decides.
absl::Status XFacts::JoinGraphs() {
  std::vector<Graph*> by_program;
  for (Graph& graph : graphs_) by_program.push_back(&graph);
  std::sort(by_program.begin(), by_program.end(),
            [](const Graph* a, const Graph* b) { return a->program_id < b->program_id; });
  // Numbers that count stay small; fingerprints are 64-bit hashes.
  constexpr int64_t kLargestCount = int64_t(1) << 32;
  bool counted = !by_program.empty() && by_program.front()->program_id >= 0 &&
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
  // JAX names a module after its function, also where nothing inside the compile tells the module.
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
  absl::flat_hash_map<StringId, int64_t> graph_of_hash;  // of the compiles so far
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
    XP_TRY(context_.Issue("module_not_joined", "info",
                          "compilations whose HLO module cannot be told among those in the "
                          "capture: their reason is looked for in other sources",
                          {}, {}, unsure));
  }
  return absl::OkStatus();
}

// The device's work, divided into executions. Where events carry a run_id that is told. Else
// (torch_xla on CPU) an op that runs once an execution runs for the k-th time in the k-th
// execution; the op that runs first is such a one (it stands in no loop), and its count is the
// number of executions. Ops that run more often by a whole factor (loops) are dealt out evenly;
// others go to the execution that had begun last.
std::vector<XFacts::Run> XFacts::Runs() {
  if (!ends_.empty()) {
    std::sort(ends_.begin(), ends_.end());
    for (XOp& op : ops_) {
      if (op.flow == 0) continue;
      auto found = std::lower_bound(ends_.begin(), ends_.end(), std::pair(op.flow, INT64_MIN));
      if (found != ends_.end() && found->first == op.flow)
        op.end_ns = std::max(op.end_ns, found->second);
    }
  }
  std::sort(ops_.begin(), ops_.end(), [](const XOp& a, const XOp& b) {
    return std::tie(a.program, a.run_id, a.ts_ns, a.name) <
           std::tie(b.program, b.run_id, b.ts_ns, b.name);
  });
  std::vector<Run> runs;
  auto take = [](Run& run, const XOp& op) {
    run.ts_ns = std::min(run.ts_ns, op.ts_ns);
    run.end_ns = std::max(run.end_ns, op.end_ns);
  };
  for (size_t begin = 0; begin < ops_.size();) {
    size_t end = begin;
    while (end < ops_.size() && ops_[end].program == ops_[begin].program &&
           ops_[end].run_id == ops_[begin].run_id)
      ++end;
    if (ops_[begin].run_id >= 0) {
      Run run{.program = ops_[begin].program};
      for (size_t i = begin; i < end; ++i) take(run, ops_[i]);
      runs.push_back(run);
      begin = end;
      continue;
    }
    absl::flat_hash_map<StringId, std::pair<size_t, size_t>> count_seen;
    for (size_t i = begin; i < end; ++i) ++count_seen[ops_[i].name].first;
    size_t executions = count_seen[ops_[begin].name].first, first = runs.size();
    runs.resize(first + executions, Run{.program = ops_[begin].program});
    std::vector<size_t> rest;
    for (size_t i = begin; i < end; ++i) {
      auto& [count, seen] = count_seen[ops_[i].name];
      if (count % executions == 0) {
        take(runs[first + seen++ / (count / executions)], ops_[i]);
      } else {
        rest.push_back(i);
      }
    }
    size_t at = 0;
    for (size_t i : rest) {
      while (at + 1 < executions && runs[first + at + 1].ts_ns <= ops_[i].ts_ns) ++at;
      runs[first + at].end_ns = std::max(runs[first + at].end_ns, ops_[i].end_ns);
    }
    begin = end;
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    return std::tie(a.ts_ns, a.end_ns) < std::tie(b.ts_ns, b.end_ns);
  });
  return runs;
}

// Makes an execution of a row: when and where the host asked for it.
ExecutionRow& XFacts::Place(int64_t host_ts_ns, int64_t track_id, Row* row) const {
  row->ts_ns = host_ts_ns;
  ExecutionRow& execution = row->fact.emplace<ExecutionRow>();
  if (const Step* step = StepAt(host_ts_ns)) execution.step_id = step->id;
  if (std::string scope = ScopeAt(host_ts_ns, track_id); !scope.empty())
    execution.scope = std::move(scope);
  if (track_id != 0) execution.track_id = track_id;
  return execution;
}

// A program on a device that no sync of torch_xla asked for. `enqueue` may be null.
void XFacts::AddModuleRow(const XModule& module, const XMark* enqueue,
                          std::vector<Row>& rows) const {
  Row row{.offset = module.offset};
  ExecutionRow& out = Place(enqueue != nullptr ? enqueue->ts_ns : module.ts_ns,
                            enqueue != nullptr ? enqueue->track_id : 0, &row);
  out.ts_ns = module.ts_ns;
  out.dur_ns = module.end_ns - module.ts_ns;
  if (enqueue != nullptr) out.enqueue_ts_ns = enqueue->ts_ns;
  out.device = std::string(context_.store.Text(module.device));
  if (int64_t graph = GraphOfProgram(module.program_id); graph != 0) out.graph_id = graph;
  if (has_calls_) out.cause = "call";
  rows.push_back(std::move(row));
}

// One row an execution on a device. Three ways to tell what the host asked for:
//   - torch_xla: each sync that schedules something; it meets the device's programs first in, first
//   out, on each device;
//   - a run_id that the host's enqueue and the device's program share (TPU);
//   - JAX on CPU: the client's dispatches, first in, first out.
void XFacts::FindExecutions(std::vector<Row>& rows) {
  std::vector<const XMark*> asked, workers;
  for (const XMark& mark : marks_) {
    if (mark.role == XRole::kSchedule) asked.push_back(&mark);
    if (mark.role == XRole::kExecute) workers.push_back(&mark);
  }
  bool lazy = !asked.empty();
  // What devices ran. torch_xla's own programs are called so; others on the device (a reshape, a
  // reduction) were not synced.
  constexpr std::string_view kLazyModule = "SyncTensorsGraph";
  std::stable_sort(modules_.begin(), modules_.end(),
                   [](const XModule& a, const XModule& b) { return a.ts_ns < b.ts_ns; });
  bool named = std::any_of(modules_.begin(), modules_.end(), [&](const XModule& module) {
    return module.name.starts_with(kLazyModule);
  });
  std::vector<Run> runs = Runs();
  std::vector<const XModule*> alone;
  for (const XModule& module : modules_) {
    if (lazy && (!named || module.name.starts_with(kLazyModule))) {
      runs.push_back(
          {module.ts_ns, module.end_ns, Program(module.program_id, module.device), &module});
    } else {
      alone.push_back(&module);
    }
  }
  std::stable_sort(runs.begin(), runs.end(),
                   [](const Run& a, const Run& b) { return a.ts_ns < b.ts_ns; });

  if (!alone.empty()) {
    // Host and device agree in the low 28 bits of the run_id.
    constexpr int64_t kRunBits = (1 << 28) - 1;
    std::map<std::pair<int64_t, int64_t>, const XMark*> enqueues;
    for (const XMark& mark : marks_) {
      if (mark.role == XRole::kEnqueue && mark.number >= 0)
        enqueues.emplace(std::pair(mark.number & kRunBits, mark.device), &mark);
    }
    for (const XModule* module : alone) {
      auto found = module->run_id < 0
                       ? enqueues.end()
                       : enqueues.find({module->run_id & kRunBits, module->device_ordinal});
      AddModuleRow(*module, found == enqueues.end() ? nullptr : found->second, rows);
    }
  }
  if (!lazy && alone.empty()) {
    for (const XMark& mark : marks_) {
      if (mark.role == XRole::kDispatch) asked.push_back(&mark);
    }
  }

  // Blocked: reads of values on the asking thread before it asks again. They wait for what it asked
  // for last.
  absl::flat_hash_map<const XMark*, int64_t> waited;
  absl::flat_hash_map<int64_t, const XMark*> last_asked;
  for (const XMark& mark : marks_) {
    if (mark.role == (lazy ? XRole::kSchedule : XRole::kDispatch))
      last_asked[mark.track_id] = &mark;
    if (mark.role != XRole::kFromDevice && mark.role != XRole::kFetch) continue;
    if (auto found = last_asked.find(mark.track_id); found != last_asked.end())
      waited[found->second] += mark.end_ns - mark.ts_ns;
  }
  // Runs by device: each device takes its programs in order.
  std::map<StringId, std::vector<size_t>> of_device;
  for (size_t r = 0; r < runs.size(); ++r)
    of_device[programs_[runs[r].program].device].push_back(r);
  std::map<StringId, size_t> first_free;
  std::vector<bool> used(runs.size(), false);
  size_t worker = 0;
  for (const XMark* asking : asked) {
    const XMark& mark = *asking;
    std::string cause = "call";
    int64_t program_id = -1;  // known where this very sync compiled
    const Compile* compiled = nullptr;
    if (lazy) {
      cause = CauseAt(mark);
      if (cause.empty())
        cause = context_.store.Text(mark.name).starts_with("ExecuteComputationWithBarrier")
                    ? "dynamo_execute"
                    : "value_access";
      // Up to this sync's own start, where that is all there is of it.
      if (const XMark* sync = Around(mark, XRole::kSync))
        compiled = LastCompile(mark.track_id, sync->ts_ns, std::max(mark.ts_ns - 1, sync->ts_ns));
      if (compiled != nullptr) program_id = compiled->program_id;
    }
    int64_t not_before = mark.ts_ns;
    while (lazy && worker < workers.size() && workers[worker]->ts_ns < mark.ts_ns) ++worker;
    if (lazy && worker < workers.size()) not_before = workers[worker++]->ts_ns;
    bool anywhere = false;
    auto add = [&](const Run* run) {
      Row row{.offset = mark.offset};
      ExecutionRow& out = Place(mark.ts_ns, mark.track_id, &row);
      out.enqueue_ts_ns = mark.ts_ns;
      out.cause = cause;
      if (auto found = waited.find(&mark); found != waited.end() && !anywhere)
        out.host_wait_ns = found->second;
      int64_t ran = program_id;
      if (run != nullptr) {
        out.ts_ns = run->ts_ns;
        out.dur_ns = run->end_ns - run->ts_ns;
        const ProgramOnDevice& program = programs_[run->program];
        out.device =
            program.device != 0 ? std::string(context_.store.Text(program.device)) : "CPU:0";
        ran = program.program_id;
      }
      int64_t graph =
          compiled != nullptr && compiled->graph_id != 0 ? compiled->graph_id : GraphOfProgram(ran);
      if (graph != 0) out.graph_id = graph;
      rows.push_back(std::move(row));
      anywhere = true;
    };
    for (auto& [device, list] : of_device) {
      // A program without any event on this device (it does nothing there) takes nobody else's.
      bool ever = program_id < 0 || program_ids_.contains(std::pair(program_id, device));
      size_t& first = first_free[device];
      while (first < list.size() && (used[list[first]] || runs[list[first]].ts_ns < not_before))
        ++first;
      // Devices take programs in order: one that was asked for now does not run behind thousands.
      constexpr size_t kLookAhead = 4096;
      const size_t last = std::min(list.size(), first + kLookAhead);
      for (size_t k = first; ever && k < last; ++k) {
        const Run& run = runs[list[k]];
        if (used[list[k]] || (program_id >= 0 && programs_[run.program].program_id != program_id))
          continue;
        used[list[k]] = true;
        add(&run);
        break;
      }
    }
    if (!anywhere) add(nullptr);
  }
  // What ran on a device with nobody seen to ask for it: a program of another asker, or the window
  // began in between.
  for (size_t r = 0; r < runs.size(); ++r) {
    if (used[r]) continue;
    if (runs[r].module != nullptr) {
      AddModuleRow(*runs[r].module, nullptr, rows);
    } else if (asked.empty()) {
      Row row;
      ExecutionRow& out = Place(runs[r].ts_ns, 0, &row);
      out.ts_ns = runs[r].ts_ns;
      out.dur_ns = runs[r].end_ns - runs[r].ts_ns;
      const ProgramOnDevice& program = programs_[runs[r].program];
      out.device = program.device != 0 ? std::string(context_.store.Text(program.device)) : "CPU:0";
      if (int64_t graph = GraphOfProgram(program.program_id); graph != 0) out.graph_id = graph;
      rows.push_back(std::move(row));
    }
  }
}

// One row a copy: the client's own events where there are any, else JAX's Python side.
void XFacts::FindTransfers(std::vector<Row>& rows) {
  auto client = [](XRole role) {
    return role == XRole::kToDevice || role == XRole::kFromDevice || role == XRole::kDeviceToDevice;
  };
  bool has_client = std::any_of(marks_.begin(), marks_.end(),
                                [&](const XMark& mark) { return client(mark.role); });
  std::map<int64_t, int64_t> busy_until;  // by track: nested ones are parts
  for (const XMark& mark : marks_) {
    bool to = mark.role == XRole::kToDevice || mark.role == XRole::kPut,
         from = mark.role == XRole::kFromDevice || mark.role == XRole::kFetch;
    if (has_client ? !client(mark.role) : !(to || from)) continue;
    int64_t& until = busy_until.try_emplace(mark.track_id, INT64_MIN).first->second;
    if (mark.ts_ns < until) continue;
    until = mark.end_ns;
    Row row{.ts_ns = mark.ts_ns, .fact = TransferRow(), .offset = mark.offset};
    TransferRow& out = std::get<TransferRow>(row.fact);
    out.direction = to ? "to_device" : from ? "from_device" : "device_to_device";
    if (mark.number >= 0) out.bytes = mark.number;
    out.ts_ns = mark.ts_ns;
    out.dur_ns = mark.end_ns - mark.ts_ns;
    if (const Step* step = StepAt(mark.ts_ns)) out.step_id = step->id;
    if (std::string scope = mark.front ? ScopeAt(mark.ts_ns, mark.track_id) : ""; !scope.empty())
      out.scope = std::move(scope);
    out.track_id = mark.track_id;
    rows.push_back(std::move(row));
  }
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
    out.dur_from = "xspace";
    bool lazy = mark.role == XRole::kGraphCompile || mark.role == XRole::kClientCompile;
    if (std::string cause = lazy ? CauseAt(mark) : "call"; !cause.empty()) out.cause = cause;
    if (!lazy) {
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
