#include "core/exec/load_or_compile.h"

#include <atomic>

#include "core/environment.h"
#include "core/exec/at_exit.h"
#include "core/exec/device.h"
#include "core/exec/listener.h"

namespace xlaprof::lazy {
namespace {

absl::StatusOr<std::unique_ptr<Executable>> CompileAnew(Device& device, const TracedGraph& graph,
                                                        Program program, const Cut& cut) {
  XLAPROF_OBSERVE(kCompile, "XLAGraphExecutor::Compile");
  Tell(&RuntimeListener::OnCompile, program, device, cut);
  const std::string name = program.name;
  auto executable = device.backend().Compile(std::move(program));
  if (executable.ok()) return executable;
  absl::Status error = executable.status();
  Tell(&RuntimeListener::OnFailed, MakeProgram(graph, name), &error);
  return error;
}

}  // namespace

absl::StatusOr<std::shared_ptr<CompiledGraph>> LoadOrCompile(Device& device,
                                                             const TracedGraph& graph,
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
  for (const Ref<Data>& parameter : graph.parameters) {
    if (!compiled->input_shapes.empty()) compiled->input_shapes += ' ';
    compiled->input_shapes += parameter->shape().ToText();
  }
  Program program = MakeProgram(graph, compiled->name);
  if (environment().shows_failed_programs()) compiled->program = program;
  Tell(&RuntimeListener::OnGraph, program);
  Compilation compilation{*compiled, graph, device, cut, device.backend().NowNs()};
  PersistentCache* kept = device.persistent_cache();
  if (kept != nullptr) {
    XLAPROF_OBSERVE(kHost, "PersistentCacheLoad");
    compiled->executable = kept->Load(device.backend(), program);
    compilation.was_kept = compiled->executable != nullptr;
  }
  if (compilation.was_kept != true) {
    XP_TRY(compiled->executable, CompileAnew(device, graph, std::move(program), cut));
  }
  const std::span<const Attributes> shardings = compiled->executable->result_shardings();
  compiled->result_shardings.assign(shardings.begin(), shardings.end());
  compilation.end_ns = device.backend().NowNs();
  at_exit::FinishBeforeWhatExists();
  Tell(&RuntimeListener::OnCompiled, compilation);
  if (compilation.was_kept == false)
    kept->Save(device.backend(), *compiled->executable, MakeProgram(graph, compiled->name));
  return compiled;
}

}  // namespace xlaprof::lazy
