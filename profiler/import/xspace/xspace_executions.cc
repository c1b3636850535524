// Finds out which device work of a profile belongs together, and what on the host asked for it.
#include <algorithm>
#include <map>
#include <tuple>

#include "profiler/import/xspace/xspace_facts.h"

namespace xlaprof {

// Divides the device's work into executions. If events carry a run_id, that decides. Without it
// (torch_xla on CPU, GPUs), an op that runs once per execution runs for the k-th time in the k-th
// execution. The op that runs first is one of these (it is in no loop), so its count is the number
// of executions. Ops that run more often by a whole factor (loops) are divided evenly; others go to
// the execution that began last before them. A profile may begin within an execution, whose ops
// would be taken for those of the next ones; they are a run of their own if they end before the
// host first asks for an execution.
std::vector<XFacts::Run> XFacts::Runs() {
  // An execution is at work for a tenth of its time, unless it is short: ops of a microsecond may
  // pause for much longer.
  constexpr int64_t kLeastWorkShare = 10, kLongNs = 1'000'000'000;
  // The clocks of a host and its GPU agree to within this time.
  constexpr int64_t kClocksAgreeNs = 1'000'000;
  if (has_device_work_) std::erase_if(ops_, [](const XOp& op) { return op.on_host; });
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
    return std::tie(a.program, a.run_id, a.ts_ns, a.name, a.op) <
           std::tie(b.program, b.run_id, b.ts_ns, b.name, b.op);
  });
  std::vector<Run> runs;
  auto take = [](Run& run, const XOp& op) {
    run.ts_ns = std::min(run.ts_ns, op.ts_ns);
    run.end_ns = std::max(run.end_ns, op.end_ns);
    if (op.run_id < 0) run.work_ns += op.end_ns - op.ts_ns;
  };
  int64_t first_asked_ns = INT64_MAX;
  for (const XMark& mark : marks_) {
    if (mark.role == XRole::kExecute || mark.role == XRole::kDispatch)
      first_asked_ns = std::min(first_asked_ns, mark.ts_ns);
  }
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
    size_t asked = begin;
    int64_t last_end_ns = INT64_MIN;
    for (; asked < end && ops_[asked].ts_ns < first_asked_ns; ++asked)
      last_end_ns = std::max(last_end_ns, ops_[asked].end_ns);
    if (asked > begin && last_end_ns <= first_asked_ns - kClocksAgreeNs) end = asked;
    auto identity = [&](size_t i) { return std::pair(ops_[i].name, ops_[i].op); };
    absl::flat_hash_map<std::pair<StringId, StringId>, std::pair<size_t, size_t>> count_seen;
    for (size_t i = begin; i < end; ++i) ++count_seen[identity(i)].first;
    size_t executions = count_seen[identity(begin)].first, first = runs.size();
    runs.resize(first + executions, Run{.program = ops_[begin].program});
    std::vector<size_t> rest;
    for (size_t i = begin; i < end; ++i) {
      auto& [count, seen] = count_seen[identity(i)];
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
      runs[first + at].work_ns += ops_[i].end_ns - ops_[i].ts_ns;
    }
    begin = end;
  }
  // Names do not tell executions apart if programs of one name have other ops. What seems to be one
  // execution is then many, with idle time between them.
  std::erase_if(runs, [](const Run& run) {
    const int64_t length_ns = run.end_ns - run.ts_ns;
    return run.work_ns > 0 && length_ns >= kLongNs && kLeastWorkShare * run.work_ns < length_ns;
  });
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

// The runs of each device, which takes its programs in order.
class XFacts::DeviceQueues {
 public:
  DeviceQueues(const XFacts& facts, std::vector<Run> runs)
      : facts_(facts), runs_(std::move(runs)), used_(runs_.size(), false) {
    for (size_t r = 0; r < runs_.size(); ++r) queues_[DeviceOf(runs_[r])].runs.push_back(r);
  }

  // On each device, takes the first run after `not_before_ns` that can be one of `program_id`, and
  // calls use(run).
  template <typename Use>
  void Take(OptInt program_id, int64_t not_before_ns, Use&& use) {
    for (auto& [device, queue] : queues_) {
      const size_t first = FirstOf(queue, not_before_ns);
      // A program without any event on this device (it does nothing there) must not take another
      // program's.
      if (program_id && !facts_.program_ids_.contains(std::pair(program_id, device))) continue;
      // A program that was asked for now does not run after thousands of others.
      constexpr size_t kLookAhead = 4096;
      const size_t last = std::min(queue.runs.size(), first + kLookAhead);
      for (size_t k = first; k < last; ++k) {
        const size_t r = queue.runs[k];
        if (used_[r] || (program_id && ProgramOf(runs_[r]).program_id != program_id)) continue;
        used_[r] = true;
        use(runs_[r]);
        break;
      }
    }
  }

  // Takes the first run after `not_before_ns` on any device, and calls use(run).
  template <typename Use>
  void TakeOne(int64_t not_before_ns, Use&& use) {
    size_t earliest = SIZE_MAX;  // runs_ are by their starts
    for (auto& [device, queue] : queues_) {
      const size_t first = FirstOf(queue, not_before_ns);
      if (first < queue.runs.size()) earliest = std::min(earliest, queue.runs[first]);
    }
    if (earliest == SIZE_MAX) return;
    used_[earliest] = true;
    use(runs_[earliest]);
  }

  // Calls use(run) for each run that was not taken, in the order of their starts.
  template <typename Use>
  void EachLeft(Use&& use) const {
    for (size_t r = 0; r < runs_.size(); ++r) {
      if (!used_[r]) use(runs_[r]);
    }
  }

 private:
  struct Queue {
    std::vector<size_t> runs;  // places in runs_
    size_t first = 0;          // those before it are used, or too early
  };
  // Returns the place in a queue of its first run that was not taken and does not begin too early.
  size_t FirstOf(Queue& queue, int64_t not_before_ns) const {
    size_t& first = queue.first;
    while (first < queue.runs.size() &&
           (used_[queue.runs[first]] || runs_[queue.runs[first]].ts_ns < not_before_ns))
      ++first;
    return first;
  }
  const ProgramOnDevice& ProgramOf(const Run& run) const { return facts_.programs_[run.program]; }
  StringId DeviceOf(const Run& run) const { return ProgramOf(run).device; }

  const XFacts& facts_;
  std::vector<Run> runs_;
  std::vector<bool> used_;
  std::map<StringId, Queue> queues_;
};

std::vector<const XMark*> XFacts::MarksOf(XRole role) const {
  std::vector<const XMark*> marks;
  for (const XMark& mark : marks_) {
    if (mark.role == role) marks.push_back(&mark);
  }
  return marks;
}

// Returns all runs by their start. If the program is lazy, these include the device's modules that
// torch_xla's syncs asked for; other modules are added to `alone`.
std::vector<XFacts::Run> XFacts::RunsWithModules(bool lazy, std::vector<const XModule*>& alone) {
  // torch_xla's own programs have this name. Other programs on the device (a reshape, a reduction)
  // were not synced.
  constexpr std::string_view kLazyModule = "SyncTensorsGraph";
  auto is_of_torch_xla = [&](const XModule& module) {
    return module.name.starts_with(kLazyModule);
  };
  std::ranges::stable_sort(modules_, {}, &XModule::ts_ns);
  const bool named = std::ranges::any_of(modules_, is_of_torch_xla);
  std::vector<Run> runs = Runs();
  for (const XModule& module : modules_) {
    if (lazy && (!named || is_of_torch_xla(module))) {
      runs.push_back(
          {module.ts_ns, module.end_ns, Program(module.program_id, module.device), &module});
    } else {
      alone.push_back(&module);
    }
  }
  std::ranges::stable_sort(runs, {}, &Run::ts_ns);
  return runs;
}

// Adds the modules that no sync asked for, each with the enqueue of its run_id, if that is known.
void XFacts::AddAloneModules(const std::vector<const XModule*>& alone,
                             std::vector<Row>& rows) const {
  // Host and device have the same low 28 bits of the run_id.
  constexpr int64_t kRunBits = (1 << 28) - 1;
  std::map<std::pair<int64_t, int64_t>, const XMark*> enqueues;
  for (const XMark* mark : MarksOf(XRole::kEnqueue)) {
    if (mark->number >= 0) enqueues.emplace(std::pair(mark->number & kRunBits, mark->device), mark);
  }
  for (const XModule* module : alone) {
    auto found = module->run_id < 0
                     ? enqueues.end()
                     : enqueues.find({module->run_id & kRunBits, module->device_ordinal});
    AddModuleRow(*module, found == enqueues.end() ? nullptr : found->second, rows);
  }
}

// Returns how long the host waited in reads of values, by the mark that had asked for the value.
// Reads block the asking thread before it asks again, so they wait for what it asked for last.
absl::flat_hash_map<const XMark*, int64_t> XFacts::ReadWaits(XRole asking) const {
  absl::flat_hash_map<const XMark*, int64_t> waited;
  absl::flat_hash_map<int64_t, const XMark*> last_asked;
  for (const XMark& mark : marks_) {
    if (mark.role == asking) last_asked[mark.track_id] = &mark;
    if (mark.role != XRole::kFromDevice && mark.role != XRole::kFetch) continue;
    if (auto found = last_asked.find(mark.track_id); found != last_asked.end())
      waited[found->second] += mark.end_ns - mark.ts_ns;
  }
  return waited;
}

// Returns what a sync of torch_xla asked for.
XFacts::Request XFacts::RequestOf(const XMark& mark) const {
  Request request{.cause = CauseAt(mark)};
  const XMark* sync = Around(mark, XRole::kSync);
  if (request.cause == CutKind::kUnknown && sync == nullptr && !MayHaveCaller(mark))
    request.cause = context_.store.Text(mark.name).starts_with("ExecuteComputationWithBarrier")
                        ? CutKind::kDynamoExecute
                        : CutKind::kValueAccess;
  // Only compiles up to this sync's own start count, if nothing else of it was recorded.
  if (sync != nullptr)
    request.compiled =
        LastCompile(mark.track_id, sync->ts_ns, std::max(mark.ts_ns - 1, sync->ts_ns));
  if (request.compiled != nullptr) request.program_id = request.compiled->program_id;
  return request;
}

// Sets the time, the device and the graph of an execution. Without a run, only the graph is known,
// and only if the request compiled it.
void XFacts::SetRun(const Run* run, const Request& request, ExecutionRow& out) const {
  OptInt ran = request.program_id;
  if (run != nullptr) {
    out.ts_ns = run->ts_ns;
    out.dur_ns = run->end_ns - run->ts_ns;
    const ProgramOnDevice& program = programs_[run->program];
    out.device = program.device != 0 ? std::string(context_.store.Text(program.device)) : "CPU:0";
    ran = program.program_id;
  }
  const Compile* compiled = request.compiled;
  const int64_t graph =
      compiled != nullptr && compiled->graph_id != 0 ? compiled->graph_id : GraphOfProgram(ran);
  if (graph != 0) out.graph_id = graph;
}

// Adds one row per execution on a device. There are three ways to find out what the host asked for:
//   - torch_xla: each sync that schedules something; it meets the device's programs first in, first
//   out, on each device;
//   - a run_id that the host's enqueue and the device's program share (TPU);
//   - JAX on CPU and GPU: the client's dispatches, one per device, first in, first out.
void XFacts::FindExecutions(std::vector<Row>& rows) {
  std::vector<const XMark*> asked = MarksOf(XRole::kSchedule);
  const bool lazy = !asked.empty();
  std::vector<const XModule*> alone;
  DeviceQueues queues(*this, RunsWithModules(lazy, alone));
  AddAloneModules(alone, rows);
  if (!lazy && alone.empty()) asked = MarksOf(XRole::kDispatch);
  const auto waited = ReadWaits(lazy ? XRole::kSchedule : XRole::kDispatch);
  const std::vector<const XMark*> workers =
      lazy ? MarksOf(XRole::kExecute) : std::vector<const XMark*>();
  size_t worker = 0;
  for (const XMark* mark : asked) {
    const Request request = lazy ? RequestOf(*mark) : Request{.cause = CutKind::kCall};
    while (worker < workers.size() && workers[worker]->ts_ns < mark->ts_ns) ++worker;
    const int64_t not_before_ns = worker < workers.size() ? workers[worker++]->ts_ns : mark->ts_ns;
    bool is_first = true;
    auto add = [&](const Run* run) {
      Row row{.offset = mark->offset};
      ExecutionRow& out = Place(mark->ts_ns, mark->track_id, &row);
      out.enqueue_ts_ns = mark->ts_ns;
      out.cause = request.cause;
      if (auto found = waited.find(mark); found != waited.end() && is_first)
        out.host_wait_ns = found->second;
      SetRun(run, request, out);
      rows.push_back(std::move(row));
      is_first = false;
    };
    if (lazy) {
      queues.Take(request.program_id, not_before_ns, [&](const Run& run) { add(&run); });
    } else {
      queues.TakeOne(not_before_ns, [&](const Run& run) { add(&run); });
    }
    if (is_first) add(nullptr);
  }
  // TorchTPU does not say what on the device belongs to its graphs.
  for (const XMark* mark : MarksOf(XRole::kTask)) {
    Row row{.offset = mark->offset};
    Place(mark->ts_ns, mark->track_id, &row).enqueue_ts_ns = mark->ts_ns;
    rows.push_back(std::move(row));
  }
  // These ran on a device, but nothing was seen to ask for them. Another process may have asked, or
  // the window began in between.
  queues.EachLeft([&](const Run& run) {
    if (run.module != nullptr) {
      AddModuleRow(*run.module, nullptr, rows);
    } else if (asked.empty()) {
      Row row;
      SetRun(&run, {}, Place(run.ts_ns, 0, &row));
      rows.push_back(std::move(row));
    }
  });
}

}  // namespace xlaprof
