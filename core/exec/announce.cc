#include "core/exec/announce.h"

#include "core/exec/call.h"
#include "core/exec/device.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {

void AnnounceGraph(const Program& program) {
  observe::Observer* observer = observe::Current();
  if (observer == nullptr) return;
  observe::Graph graph{.hash = program.hash.ToText(),
                       .name = program.name,
                       .inputs = int64_t(program.parameters.size()),
                       .outputs = int64_t(program.results.size())};
  for (const Instruction& instruction : program.instructions) {
    graph.nodes.push_back({.op = std::string(instruction.op->name),
                           .shape = instruction.shape.ToXlaText(),
                           .attributes = AttributesText(*instruction.op, instruction.attributes),
                           .scope = std::string(ScopeText(instruction.scope)),
                           .operands = {instruction.operands.begin(), instruction.operands.end()},
                           .location = instruction.location});
  }
  for (size_t i = 0; i < program.results.size(); ++i) {
    std::optional<int64_t>& result = graph.nodes[size_t(program.results[i])].result;
    if (!result) result = int64_t(i);
  }
  observer->OnGraph(graph);
}

void AnnounceCompile(const CompiledGraph& graph, Device& device, const Cut& cut, int64_t begin_ns,
                     std::optional<bool> was_kept) {
  observe::Observer* observer = observe::Current();
  if (observer == nullptr) return;
  const Executable::Sizes sizes = graph.executable->sizes();
  observer->OnCompile({.graph_hash = graph.hash.ToText(),
                       .cause = cut.cause,
                       .ts_ns = begin_ns,
                       .dur_ns = device.backend().NowNs() - begin_ns,
                       .argument_bytes = sizes.argument_bytes,
                       .result_bytes = sizes.result_bytes,
                       .alias_bytes = sizes.alias_bytes,
                       .temporary_bytes = sizes.temporary_bytes,
                       .program_bytes = sizes.program_bytes,
                       .persistent_hit = was_kept,
                       .stack = StackAt(cut.where)});
}

observe::Execution DescribeExecution(const CompiledGraph& graph, Device& device, const Cut& cut,
                                     uint64_t run) {
  if (observe::Current() == nullptr) return {};
  return {.graph_hash = graph.hash.ToText(),
          .cause = cut.cause,
          .device = device.name(),
          .run = run,
          .enqueue_ts_ns = device.backend().NowNs(),
          .scope = std::string(ScopeText(CurrentScope())),
          .stack = StackAt(cut.where)};
}

void AnnounceEnqueue(uint64_t run) {
  if (observe::Observer* observer = observe::Current()) observer->OnEnqueue(run);
}

void AnnounceExecution(observe::Execution& execution, const std::string& name, int64_t begin_ns,
                       int64_t end_ns, const Backend& backend) {
  observe::Observer* observer = observe::Current();
  if (observer == nullptr || execution.device.empty()) return;
  execution.ts_ns = begin_ns;
  execution.dur_ns = end_ns - begin_ns;
  observer->OnModule(name, begin_ns, end_ns - begin_ns, execution.run);
  static observe::Site memory{Category::kNone, "memory in use (bytes)"};
  static observe::Site peak{Category::kNone, "peak memory in use (bytes)"};
  observer->OnCounter(memory, double(backend.bytes_in_use()));
  observer->OnCounter(peak, double(backend.peak_bytes_in_use()));
  observer->OnExecution(execution);
}

absl::Status AwaitOnHost(const Data& data) {
  if (data.is_there()) return data.Wait();
  Device& device = data.device();
  observe::Observer* observer = observe::Current();
  const int64_t begin_ns = observer == nullptr ? 0 : device.backend().NowNs();
  device.RunUntil(data);
  absl::Status status = data.Wait();
  if (observer != nullptr) observer->OnHostWait({data.run(), device.backend().NowNs() - begin_ns});
  return status;
}

void KernelAnnouncer::OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) {
  observer_->OnKernel({.name = kernel.name,
                       .op_names = kernel.op_names,
                       .shape = kernel.shape,
                       .operands = kernel.operands,
                       .ts_ns = ts_ns,
                       .dur_ns = dur_ns,
                       .flops = kernel.flops,
                       .bytes = kernel.bytes});
}

}  // namespace xlaprof::lazy
