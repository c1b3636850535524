// Finds out which device work of a profile belongs together, and what on the host asked for it.
#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

// Divides the device's work into executions. If events carry a run_id, that decides. Without it
// (torch_xla on CPU), an op that runs once per execution runs for the k-th time in the k-th
// execution. The op that runs first is one of these (it is in no loop), so its count is the number
// of executions. Ops that run more often by a whole factor (loops) are divided evenly; others go to
// the execution that began last before them.
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

// Makes a row an execution, with the time and place at which the host asked for it.
ExecutionRow& XFacts::Place(int64_t host_ts_ns, int64_t track_id, Row* row) const {
  row->ts_ns = host_ts_ns;
  ExecutionRow& execution = row->fact.emplace<ExecutionRow>();
  if (const Step* step = StepAt(host_ts_ns)) execution.step_id = step->id;
  if (std::string scope = ScopeAt(host_ts_ns, track_id); !scope.empty())
    execution.scope = std::move(scope);
  if (track_id != 0) execution.track_id = track_id;
  return execution;
}

// Adds a program on a device that no sync of torch_xla asked for. `enqueue` may be null.
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
  if (has_calls_) out.cause = CutKind::kCall;
  rows.push_back(std::move(row));
}

// Adds one row per execution on a device. There are three ways to find out what the host asked for:
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
  // torch_xla's own programs have this name. Other programs on the device (a reshape, a reduction)
  // were not synced.
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
    // Host and device have the same low 28 bits of the run_id.
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

  // Reads of values block the asking thread before it asks again. They wait for what it asked for
  // last.
  absl::flat_hash_map<const XMark*, int64_t> waited;
  absl::flat_hash_map<int64_t, const XMark*> last_asked;
  for (const XMark& mark : marks_) {
    if (mark.role == (lazy ? XRole::kSchedule : XRole::kDispatch))
      last_asked[mark.track_id] = &mark;
    if (mark.role != XRole::kFromDevice && mark.role != XRole::kFetch) continue;
    if (auto found = last_asked.find(mark.track_id); found != last_asked.end())
      waited[found->second] += mark.end_ns - mark.ts_ns;
  }
  // Runs are listed by device, because each device takes its programs in order.
  std::map<StringId, std::vector<size_t>> of_device;
  for (size_t r = 0; r < runs.size(); ++r)
    of_device[programs_[runs[r].program].device].push_back(r);
  std::map<StringId, size_t> first_free;
  std::vector<bool> used(runs.size(), false);
  size_t worker = 0;
  for (const XMark* asking : asked) {
    const XMark& mark = *asking;
    CutKind cause = CutKind::kCall;
    OptInt program_id;  // known if this sync compiled
    const Compile* compiled = nullptr;
    if (lazy) {
      cause = CauseAt(mark);
      if (cause == CutKind::kUnknown)
        cause = context_.store.Text(mark.name).starts_with("ExecuteComputationWithBarrier")
                    ? CutKind::kDynamoExecute
                    : CutKind::kValueAccess;
      // Only compiles up to this sync's own start count, if nothing else of it was recorded.
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
      OptInt ran = program_id;
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
      // A program without any event on this device (it does nothing there) must not take another
      // program's.
      bool ever = !program_id || program_ids_.contains(std::pair(program_id, device));
      size_t& first = first_free[device];
      while (first < list.size() && (used[list[first]] || runs[list[first]].ts_ns < not_before))
        ++first;
      // Devices take programs in order: a program that was asked for now does not run after
      // thousands of others.
      constexpr size_t kLookAhead = 4096;
      const size_t last = std::min(list.size(), first + kLookAhead);
      for (size_t k = first; ever && k < last; ++k) {
        const Run& run = runs[list[k]];
        if (used[list[k]] || (program_id && programs_[run.program].program_id != program_id))
          continue;
        used[list[k]] = true;
        add(&run);
        break;
      }
    }
    if (!anywhere) add(nullptr);
  }
  // These ran on a device, but nothing was seen to ask for them. Another process may have asked, or
  // the window began in between.
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

}  // namespace xlaprof
