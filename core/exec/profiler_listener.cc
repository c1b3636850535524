#include "core/exec/call.h"
#include "core/exec/device.h"
#include "core/exec/listener.h"
#include "core/ir/text.h"

namespace xlaprof::lazy {
namespace {

// Passes on to the profiler's observer. While nobody observes, each call costs one load.
class Profiler final : public RuntimeListener {
 public:
  void OnGraph(const Program& program) override {
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

  void OnCompiled(const Compilation& compilation) override {
    observe::Observer* observer = observe::Current();
    if (observer == nullptr) return;
    const Executable::Sizes sizes = compilation.compiled.executable->sizes();
    observer->OnCompile({.graph_hash = compilation.compiled.hash.ToText(),
                         .cause = compilation.cut.cause,
                         .ts_ns = compilation.begin_ns,
                         .dur_ns = compilation.end_ns - compilation.begin_ns,
                         .argument_bytes = sizes.argument_bytes,
                         .result_bytes = sizes.result_bytes,
                         .alias_bytes = sizes.alias_bytes,
                         .temporary_bytes = sizes.temporary_bytes,
                         .program_bytes = sizes.program_bytes,
                         .persistent_hit = compilation.was_kept,
                         .stack = StackAt(compilation.cut.where)});
  }

  void OnEnqueue(const TracedGraph&, const Cut& cut, Execution& execution) override {
    observe::Observer* observer = observe::Current();
    if (observer == nullptr) return;
    execution.described = {.graph_hash = execution.graph->hash.ToText(),
                           .cause = cut.cause,
                           .device = execution.device.name(),
                           .run = execution.run,
                           .enqueue_ts_ns = execution.device.backend().NowNs(),
                           .scope = std::string(ScopeText(CurrentScope())),
                           .stack = StackAt(cut.where)};
    observer->OnEnqueue(execution.run);
  }

  void OnRun(const Execution& execution) override {
    entered_ = observe::Current();
    if (entered_ != nullptr) entered_->EnterDevice(execution.device.name());
  }

  void OnRan(const Execution& execution) override {
    if (entered_ == nullptr) return;
    if (!execution.described.device.empty()) {
      observe::Execution told = execution.described;
      told.ts_ns = execution.begin_ns;
      told.dur_ns = execution.end_ns - execution.begin_ns;
      entered_->OnModule(execution.graph->name, told.ts_ns, told.dur_ns, told.run);
      static observe::Site memory{Category::kNone, "memory in use (bytes)"};
      static observe::Site peak{Category::kNone, "peak memory in use (bytes)"};
      const Backend& backend = execution.device.backend();
      entered_->OnCounter(memory, double(backend.bytes_in_use()));
      entered_->OnCounter(peak, double(backend.peak_bytes_in_use()));
      entered_->OnExecution(told);
    }
    entered_->LeaveDevice();
  }

  void OnHostWait(const observe::HostWait& wait) override {
    if (observe::Observer* observer = observe::Current()) observer->OnHostWait(wait);
  }

  void OnTransfer(const Transferred& transfer) override {
    if (observe::Observer* observer = observe::Current()) {
      observer->OnTransfer({.to_device = transfer.to_device,
                            .bytes = transfer.bytes,
                            .ts_ns = transfer.begin_ns,
                            .dur_ns = transfer.end_ns - transfer.begin_ns,
                            .device = transfer.device.name(),
                            .scope = std::string(ScopeText(CurrentScope())),
                            .stack = StackAt(transfer.where)});
    }
  }

  void OnFallback(std::string_view op, const observe::Stack& stack) override {
    if (observe::Observer* observer = observe::Current())
      observer->OnFallback({.op = op, .stack = stack});
  }

  void OnUntied(const observe::Untied& untied) override {
    if (observe::Observer* observer = observe::Current()) observer->OnUntied(untied);
  }

  void OnLoaderEnd(const observe::LoaderEnd& end) override {
    if (observe::Observer* observer = observe::Current()) observer->OnLoaderEnd(end);
  }

  void OnStep(const observe::Step* step) override {
    observe::Observer* observer = observe::Current();
    if (observer != nullptr && step != nullptr) observer->OnStep(*step);
  }

 private:
  // The observer that was told that this thread works for a device.
  static inline thread_local observe::Observer* entered_ = nullptr;
};

}  // namespace

RuntimeListener& ProfilerListener() {
  static Profiler& listener = *new Profiler;
  return listener;
}

}  // namespace xlaprof::lazy
