#include <cstdio>

#include "base/metric_names.h"
#include "base/say.h"
#include "core/debug/append.h"
#include "core/environment.h"
#include "core/exec/device.h"
#include "core/exec/listener.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {
namespace {

using metrics::Arena;
using metrics::Counter;
using metrics::Metric;
using metrics::Unit;

Counter& RuntimeCounter(const char* name) { return Counter::Of(name, Arena::kRuntime); }
Metric& RuntimeTime(const char* name) { return Metric::Of(name, Unit::kTimeNs, Arena::kRuntime); }

// Writes the whole report to XLA_METRICS_FILE, once per step.
void SaveMetrics() {
  const std::string& path = environment().metrics_file;
  if (path.empty()) return;
  static std::atomic<int64_t> saves = 0;
  const std::string text = fmt::format("[MetricsData; step={}]\n{}\n", saves++, metrics_report());
  if (path == "STDERR") return Say(text + "\n");
  if (path == "STDOUT") {
    std::puts(text.c_str());
    return;
  }
  AppendToFile("XLA_METRICS_FILE", path, text);
}

// Counts and measures, with torch_xla's names.
class Metrics final : public RuntimeListener {
 public:
  void OnCut(const TracedGraph& graph, Device&, const Cut&) override {
    static Metric& nodes = Metric::Of("TensorsGraphSize", Unit::kValue, Arena::kLazy);
    nodes.Add(double(graph.nodes.size()));
  }
  void OnCached(const TracedGraph&) override { XLAPROF_COUNT(metric_names::kCachedCompile); }
  void OnCompile(const Program&, Device&, const Cut&) override {
    XLAPROF_COUNT(metric_names::kUncachedCompile);
  }
  void OnCompiled(const Compilation& compilation) override {
    static Metric& time = RuntimeTime(metric_names::kCompileTime);
    static Counter& handles = RuntimeCounter(metric_names::kCreateCompileHandles);
    static Metric& aliases = Metric::Of("InputOutputAliasCount", Unit::kValue, Arena::kLazy);
    if (compilation.was_kept == true) {
      XLAPROF_COUNT(metric_names::kCachedCompile);
    } else {
      time.Add(double(compilation.end_ns - compilation.begin_ns));
    }
    handles.Add();
    aliases.Add(double(compilation.graph.donations.size()));
  }
  void OnEnqueue(const TracedGraph& graph, const Cut&, Execution&) override {
    if (graph.executed_again > 0) Counter::Of("NodesExecutedAgain").Add(graph.executed_again);
    XLAPROF_COUNT("ExecuteComputation");
  }
  void OnRan(const Execution& execution) override {
    const auto add = [&](Metric& time) {
      time.Add(double(execution.end_ns - execution.begin_ns));
    };
    if (!execution.device.is_spmd()) {
      static Metric& time = RuntimeTime(metric_names::kExecuteTime);
      add(time);
    } else {
      static Metric& time = RuntimeTime(metric_names::kExecuteReplicatedTime);
      add(time);
    }
  }
  void OnTransfer(const Transferred& transfer) override {
    static Metric& to_time = RuntimeTime(metric_names::kTransferToDeviceTime);
    static Metric& from_time = RuntimeTime(metric_names::kTransferFromDeviceTime);
    static Metric& out = Metric::Of(metric_names::kOutboundData, Unit::kBytes, Arena::kRuntime);
    static Metric& in = Metric::Of(metric_names::kInboundData, Unit::kBytes, Arena::kRuntime);
    (transfer.to_device ? to_time : from_time).Add(double(transfer.end_ns - transfer.begin_ns));
    (transfer.to_device ? out : in).Add(double(transfer.bytes));
  }
  void OnFallback(std::string_view op, const observe::Stack&) override {
    Counter::Of(op, Arena::kRuntime).Add();
  }
  void OnUntied(const observe::Untied& untied) override {
    static Counter& counter = Counter::Of("UntiedParameters");
    counter.Add(int64_t(untied.names.size()) - 1);
  }
  void OnLoaderEnd(const observe::LoaderEnd& end) override {
    if (end.dropped == 0) return;
    static Counter& counter = Counter::Of("ParallelLoaderDroppedBatches");
    counter.Add(end.dropped);
  }
  void OnMark(Device&) override {
    static Counter& marks = RuntimeCounter(metric_names::kMarkStep);
    marks.Add();
  }
  void OnStep(const observe::Step*) override { SaveMetrics(); }
};

}  // namespace

RuntimeListener& MetricsListener() {
  static Metrics& listener = *new Metrics;
  return listener;
}

}  // namespace xlaprof::lazy
