#include "core/exec/cut.h"

#include <absl/functional/function_ref.h>

#include <algorithm>

#include "core/environment.h"
#include "core/exec/at_exit.h"
#include "core/exec/call.h"
#include "core/exec/device.h"
#include "core/exec/handles.h"
#include "core/exec/listener.h"
#include "core/exec/load_or_compile.h"
#include "core/metrics/metrics.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {
namespace {

using metrics::Arena;
using metrics::Metric;
using metrics::Unit;

Metric& LazyMetric(const char* name, Unit unit) { return Metric::Of(name, unit, Arena::kLazy); }

// Returns whether the memory of `data` may hold a value: the two have equal shapes, and are divided
// equally.
bool MayHold(const Data& data, const Node& value) {
  if (data.shape() != value.shape()) return false;
  return &value.op() != &op::mark_sharding ||
         data.sharding() == Sharding::Of(value.attributes()).Simplified().ToAttributes();
}

// Donates the buffer of a parameter that this step overwrites and that no other tensor holds.
void FindDonations(std::span<const Ref<Storage>> computed, std::span<const Ref<Storage>> results,
                   TracedGraph& graph) {
  absl::flat_hash_map<const Data*, int32_t> parameters;
  for (size_t i = 0; i < graph.parameters.size(); ++i) {
    if (graph.parameters[i]->may_be_donated())
      parameters.emplace(graph.parameters[i].get(), int32_t(i));
  }
  for (const Ref<Storage>& storage : computed) {
    parameters.erase(storage->held().get());
    parameters.erase(storage->value()->data().get());  // another tensor's, by copy_
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Ref<Data>& held = results[i]->held();
    if (!held || !MayHold(*held, *results[i]->value())) continue;
    auto found = parameters.find(held.get());
    if (found == parameters.end()) continue;
    graph.donations.push_back({found->second, int32_t(i)});
    parameters.erase(found);
  }
  std::sort(graph.donations.begin(), graph.donations.end(),
            [](auto& a, auto& b) { return a.parameter < b.parameter; });
}

// Passes kernels to the profiler's observer.
class KernelAnnouncer final : public KernelListener {
 public:
  explicit KernelAnnouncer(const Execution& execution) : execution_(execution) {}
  // Returns null while nobody observes.
  KernelListener* listener() { return observer_ == nullptr ? nullptr : this; }
  void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) override {
    observer_->OnKernel({.name = kernel.name,
                         .op_names = kernel.op_names,
                         .shape = kernel.shape,
                         .operands = kernel.operands,
                         .ts_ns = ts_ns,
                         .dur_ns = dur_ns,
                         .flops = kernel.flops,
                         .bytes = kernel.bytes});
  }

  void EnterDevice(std::string_view name) override { observer_->EnterDevice(name); }
  void LeaveDevice(int64_t ts_ns, int64_t dur_ns) override {
    observer_->OnModule(execution_.graph->name, ts_ns, dur_ns, execution_.run);
    observer_->LeaveDevice();
  }

 private:
  const Execution& execution_;
  observe::Observer* const observer_ = observe::Current();
};

// An execution on the device's thread.
struct Task {
  Execution execution;
  std::vector<Ref<Data>> parameters, results;
  int64_t step = 0;  // the steps that the device had ended when it was requested

  void Execute();
  absl::StatusOr<std::vector<Ref<Buffer>>> Run();
};

absl::StatusOr<std::vector<Ref<Buffer>>> Task::Run() {
  const CompiledGraph& graph = *execution.graph;
  for (const Ref<Data>& parameter : parameters) XP_TRY(parameter->Wait());
  std::vector<Ref<Buffer>> arguments(parameters.size());
  {
    static Metric& time = LazyMetric("UnwrapXlaData", Unit::kTimeNs);
    metrics::Timed timed(time);
    for (const Program::Donation& donation : graph.donations)
      arguments[size_t(donation.parameter)] = parameters[size_t(donation.parameter)]->Donate();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (!arguments[i]) arguments[i] = parameters[i]->buffer();
      if (!arguments[i])
        return DataLoss("{}: a value that it needs was donated to an earlier step", graph.name);
    }
  }
  KernelAnnouncer kernels(execution);
  std::optional<RankPeers> peers;
  if (Rank* rank = execution.device.rank())
    peers.emplace(*rank, Whereabouts{.step = step,
                                     .graph = graph.hash,
                                     .graph_name = graph.name,
                                     .input_shapes = graph.input_shapes});
  auto buffers = graph.executable->Run(
      std::move(arguments), {.listener = kernels.listener(), .peers = peers ? &*peers : nullptr});
  if (buffers.ok() || !graph.program) return buffers;
  absl::Status error = buffers.status();
  Tell(&RuntimeListener::OnFailed, *graph.program, &error);
  return error;
}

void Task::Execute() {
  Backend& backend = execution.device.backend();
  Tell(&RuntimeListener::OnRun, execution);
  execution.begin_ns = backend.NowNs();
  absl::StatusOr<std::vector<Ref<Buffer>>> buffers = Run();
  execution.end_ns = backend.NowNs();
  if (!std::exchange(execution.graph->has_run, true)) at_exit::FinishBeforeWhatExists();
  Tell(&RuntimeListener::OnRan, execution);
  static Metric& wrap_time = LazyMetric("WrapXlaData", Unit::kTimeNs);
  metrics::Timed wrap(wrap_time);
  for (size_t i = 0; i < results.size(); ++i) {
    if (buffers.ok()) {
      SetAndCount(*results[i], std::move((*buffers)[i]));
    } else {
      results[i]->Fail(buffers.status());
    }
  }
}

void HashGraph(TracedGraph& graph, bool ends_step) {
  XLAPROF_OBSERVE(kTracing, "HashGraph");
  SetHash(graph, ends_step);
}

std::shared_ptr<CompiledGraph> LookUp(Device& device, const TracedGraph& graph) {
  XLAPROF_OBSERVE(kTracing, "LookupCachedCompile");
  return device.cache().Find(graph.hash);
}

// Looks up the graph's program or compiles it, and enqueues it. Returns the results, which are on
// their way. `graph` must have its hash. The caller holds a GraphLock.
absl::StatusOr<std::vector<Ref<Data>>> Send(Device& device, const TracedGraph& graph,
                                            const Cut& cut) {
  XP_TRY(at_exit::Status());
  Tell(&RuntimeListener::OnCut, graph, device, cut);
  std::shared_ptr<CompiledGraph> compiled = LookUp(device, graph);
  if (compiled != nullptr) {
    Tell(&RuntimeListener::OnCached, graph);
  } else {
    XP_TRY(compiled, LoadOrCompile(device, graph, cut));
    device.cache().Add(compiled);
  }
  XLAPROF_OBSERVE(kExecute, "ScheduleSyncTensorsGraph");
  static std::atomic<uint64_t> runs{0};
  auto task = std::make_shared<Task>(
      Task{.execution = {.graph = compiled, .device = device, .run = ++runs},
           .parameters = graph.parameters,
           .step = device.steps()});
  const std::vector<Attributes>& shardings = compiled->result_shardings;
  for (size_t i = 0; i < compiled->results.size(); ++i) {
    task->results.push_back(MakeRef<Data>(compiled->results[i], device, task->execution.run,
                                          shardings.empty() ? Attributes() : shardings[i]));
  }
  std::vector<Ref<Data>> results = task->results;
  Tell(&RuntimeListener::OnEnqueue, graph, cut, task->execution);
  device.Enqueue([task] { task->Execute(); }, cut.wait);
  return results;
}

// Runs each operation as its own program, on the results of the earlier ones.
absl::StatusOr<std::vector<Ref<Data>>> SendOneByOne(Device& device, const TracedGraph& graph,
                                                    const Cut& cut) {
  // Copies the program, because the walks below change the nodes' marks.
  const Program program = MakeProgram(graph, {});
  std::vector<NodePtr> values;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node* node = graph.nodes[i];
    if (node->data()) {
      values.emplace_back(node);
      continue;
    }
    std::vector<const Node*> operands;
    for (int32_t place : program.instructions[i].operands)
      operands.push_back(values[size_t(place)].get());
    TracedGraph one = WalkGraph(
        {Node::Make(node->op(), operands, node->attributes(), node->location(), node->scope())});
    HashGraph(one, /*ends_step=*/false);
    if (device.cache().Find(one.hash) == nullptr) XLAPROF_COUNT("OpByOpCompileCacheMiss");
    XP_TRY(std::vector<Ref<Data>> result, Send(device, one, cut));
    values.push_back(Node::OfData(std::move(result[0]), node->location()));
  }
  std::vector<Ref<Data>> results;
  for (int32_t place : program.results) results.push_back(values[size_t(place)]->data());
  return results;
}

// Waits for the results, or only until the device's queue is short enough.
absl::Status WaitAfter(Device& device, std::span<const Ref<Data>> results, const Cut& cut) {
  if (!cut.wait) {
    static Metric& lock_wait = LazyMetric("DeviceLockWait", Unit::kTimeNs);
    lock_wait.Add(double(device.WaitForRoom()));
    return absl::OkStatus();
  }
  XLAPROF_OBSERVE(kExecute, "TensorCollectionBarrier");
  for (const Ref<Data>& result : results) XP_TRY(AwaitOnHost(*result));
  return absl::OkStatus();
}

// Moves tensors that are only recorded to the front. Returns the end of that part.
std::vector<Ref<Storage>>::iterator CollectPending(std::vector<Ref<Storage>>& storages) {
  XLAPROF_OBSERVE(kTracing, "CollectSyncTensors");
  return std::stable_partition(storages.begin(), storages.end(),
                               [](const Ref<Storage>& storage) { return !storage->is_computed(); });
}

// Makes a graph that computes the storages, sends it, and returns its results. Returns none if all
// storages are computed. The caller holds a GraphLock.
absl::StatusOr<std::vector<Ref<Data>>> SendStorages(Device& device,
                                                    std::vector<Ref<Storage>>& storages,
                                                    bool ends_step, const Cut& cut,
                                                    TracedGraph& graph) {
  Tell(&RuntimeListener::OnTensors, storages.size());
  const auto computed = CollectPending(storages);
  const std::span pending(storages.begin(), computed);
  if (pending.empty()) return std::vector<Ref<Data>>();
  {
    XLAPROF_OBSERVE(kTracing, "RunPostOrder");
    std::vector<NodePtr> roots;
    for (const Ref<Storage>& storage : pending) roots.push_back(storage->value());
    graph = WalkGraph(std::move(roots));
    if (ends_step) FindDonations(std::span(computed, storages.end()), pending, graph);
  }
  HashGraph(graph, ends_step);
  const auto send = environment().sync_op_by_op ? SendOneByOne : Send;
  XP_TRY(std::vector<Ref<Data>> results, send(device, graph, cut));
  for (size_t i = 0; i < pending.size(); ++i) pending[i]->Become(results[i]);
  return results;
}

// Cuts the storages that `find` returns.
absl::Status CutStorages(Device& device, absl::FunctionRef<std::vector<Ref<Storage>>()> find,
                         bool ends_step, const Cut& cut) {
  XLAPROF_OBSERVE(kHost, "SyncTensorsGraph");
  // The graph and the storages are destroyed without the lock, which may take long.
  TracedGraph graph;
  std::vector<Ref<Storage>> storages;
  std::vector<Ref<Data>> results;
  {
    GraphLock lock;
    storages = find();
    XP_TRY(results, SendStorages(device, storages, ends_step, cut, graph));
  }
  if (!results.empty()) return WaitAfter(device, results, cut);
  if (cut.wait) device.WaitForAll();
  return absl::OkStatus();
}

}  // namespace

absl::Status CutStep(Device& device, const Cut& cut) {
  XLAPROF_OBSERVE(kHost, "SyncLiveTensorsGraph");
  if (Rank* rank = device.rank()) XP_TRY(rank->board().status());
  auto find = [&] {
    std::vector<Ref<Storage>> live = device.live().All();
    Tell(&RuntimeListener::OnLiveTensors, live.size());
    return live;
  };
  return CutStorages(device, find, /*ends_step=*/true, cut);
}

absl::Status CutTensors(Device& device, std::span<const Ref<Storage>> tensors, const Cut& cut) {
  auto find = [&] {
    std::vector<Ref<Storage>> storages(tensors.begin(), tensors.end());
    std::sort(storages.begin(), storages.end(), [](auto& a, auto& b) { return a->id() < b->id(); });
    storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
    return storages;
  };
  return CutStorages(device, find, /*ends_step=*/false, cut);
}

absl::StatusOr<std::vector<Ref<Data>>> Evaluate(Device& device, std::vector<NodePtr> values,
                                                const Cut& cut) {
  XLAPROF_OBSERVE(kHost, "SyncTensorsGraph");
  Tell(&RuntimeListener::OnRead, values.size());
  TracedGraph graph;
  {
    XLAPROF_OBSERVE(kTracing, "RunPostOrder");
    graph = WalkGraph(std::move(values));
  }
  HashGraph(graph, /*ends_step=*/false);
  return (environment().get_op_by_op ? SendOneByOne : Send)(device, graph, cut);
}

}  // namespace xlaprof::lazy
