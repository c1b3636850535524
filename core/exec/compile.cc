#include "core/exec/compile.h"

#include "base/metric_names.h"
#include "core/debug/debug.h"
#include "core/exec/announce.h"
#include "core/exec/device.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {
namespace {

using metrics::Arena;
using metrics::Counter;
using metrics::Metric;
using metrics::Unit;

absl::StatusOr<std::unique_ptr<Executable>> CompileAnew(Device& device, const TracedGraph& graph,
                                                        Program program, const Cut& cut) {
  XLAPROF_OBSERVE(kCompile, "XLAGraphExecutor::Compile");
  static Metric& time = Metric::Of(metric_names::kCompileTime, Unit::kTimeNs, Arena::kRuntime);
  XLAPROF_COUNT(metric_names::kUncachedCompile);
  if (debug::Asked()) debug::OnCompile(program, device.name(), cut);
  const std::string name = program.name;
  metrics::Timed timed(time);
  auto executable = device.backend().Compile(std::move(program));
  if (!executable.ok() && debug::Asked())
    return debug::OnCompileError(executable.status(), MakeProgram(graph, name));
  return executable;
}

}  // namespace

absl::StatusOr<std::shared_ptr<CompiledGraph>> Compile(Device& device, const TracedGraph& graph,
                                                       const Cut& cut) {
  static std::atomic<int64_t> modules{0};
  const int64_t number = ++modules;
  auto compiled = std::make_shared<CompiledGraph>(
      CompiledGraph{.hash = graph.hash,
                    .name = fmt::format("SyncTensorsGraph.{}", number),
                    .number = number,
                    .nodes = graph.nodes.size(),
                    .inputs = graph.parameters.size(),
                    .outputs = graph.roots.size(),
                    .donations = graph.donations});
  for (const NodePtr& root : graph.roots) compiled->results.push_back(root->shape());
  Program program = MakeProgram(graph, compiled->name);
  AnnounceGraph(program);
  const int64_t begin_ns = device.backend().NowNs();
  PersistentCache* kept = device.persistent_cache();
  std::optional<bool> was_kept;
  if (kept != nullptr) {
    XLAPROF_OBSERVE(kHost, "PersistentCacheLoad");
    compiled->executable = kept->Load(device.backend(), program);
    was_kept = compiled->executable != nullptr;
  }
  if (was_kept == true) {
    XLAPROF_COUNT(metric_names::kCachedCompile);
  } else {
    XP_TRY(compiled->executable, CompileAnew(device, graph, std::move(program), cut));
  }
  AnnounceCompile(*compiled, device, cut, begin_ns, was_kept);
  if (was_kept == false)
    kept->Save(device.backend(), *compiled->executable, MakeProgram(graph, compiled->name));
  if (was_kept != true && debug::Asked())
    debug::OnCompiled(graph, device.name(), compiled->executable->sizes());
  static Counter& handles = Counter::Of(metric_names::kCreateCompileHandles, Arena::kRuntime);
  static Metric& aliases = Metric::Of("InputOutputAliasCount", Unit::kValue, Arena::kLazy);
  handles.Add();
  aliases.Add(double(graph.donations.size()));
  return compiled;
}

}  // namespace xlaprof::lazy
