// Reports what the runtime does to those who want to know: the metrics, the debug output and the
// profiler. The runtime announces each thing once, where it happens:
//
//   Tell(&RuntimeListener::OnCut, graph, device, cut);
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "core/exec/cut.h"
#include "core/exec/program_cache.h"
#include "core/graph/traced_graph.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {

// Times are nanoseconds of the device's clock.
struct Compilation {
  const CompiledGraph& compiled;
  const TracedGraph& graph;
  Device& device;
  const Cut& cut;
  int64_t begin_ns = 0, end_ns = 0;
  // Says whether the program was only loaded from the persistent cache. It is empty if there is no
  // such cache.
  std::optional<bool> was_kept;
};

struct Execution {
  std::shared_ptr<CompiledGraph> graph;
  Device& device;
  uint64_t run = 0;  // its number in the process, from 1 up
  int64_t begin_ns = 0, end_ns = 0;
  observe::Execution described;  // by the thread that requested it; empty while nobody observes
};

struct Transferred {
  bool to_device = false;
  Device& device;
  int64_t bytes = 0, begin_ns = 0, end_ns = 0;
  std::source_location where;
};

// Each function is called on the thread where the thing happens, and must not call the runtime.
class RuntimeListener {
 public:
  virtual ~RuntimeListener() = default;
  // Say how many tensors are about to be computed. OnLiveTensors comes before the OnTensors of a
  // step mark, which counts those that are not computed yet. An unlazy has only OnTensors, and a
  // read has OnRead.
  virtual void OnLiveTensors(size_t) {}
  virtual void OnTensors(size_t) {}
  virtual void OnRead(size_t) {}
  // Reports a graph whose program will be looked up.
  virtual void OnCut(const TracedGraph&, Device&, const Cut&) {}
  // Reports that a program is used again.
  virtual void OnCached(const TracedGraph&) {}
  // Report a new graph, and then, unless its program is loaded, the beginning of its compilation.
  virtual void OnGraph(const Program&) {}
  virtual void OnCompile(const Program&, Device&, const Cut&) {}
  // Reports a program that was compiled or loaded.
  virtual void OnCompiled(const Compilation&) {}
  // Reports a program that could not be compiled or executed. May add to the error.
  virtual void OnFailed(const Program&, absl::Status*) {}
  // Report an execution: before it is enqueued, on the thread that requests it, and when it begins
  // and ends, on the thread that does the device's work.
  virtual void OnEnqueue(const TracedGraph&, const Cut&, Execution&) {}
  virtual void OnRun(const Execution&) {}
  virtual void OnRan(const Execution&) {}
  // Reports that a thread waited for an execution.
  virtual void OnHostWait(const observe::HostWait&) {}
  virtual void OnTransfer(const Transferred&) {}
  // Reports an operation that ran on the CPU. It has the name of its counter.
  virtual void OnFallback(std::string_view, const observe::Stack&) {}
  virtual void OnUntied(const observe::Untied&) {}
  virtual void OnLoaderEnd(const observe::LoaderEnd&) {}
  // Report a step mark, and after everything else of that mark the step that it ended, which is
  // null if nobody knows when it began.
  virtual void OnMark(Device&) {}
  virtual void OnStep(const observe::Step*) {}
};

std::span<RuntimeListener* const> Listeners();

template <class Method, class... Args>
void Tell(Method method, Args&&... args) {
  for (RuntimeListener* listener : Listeners()) std::invoke(method, listener, args...);
}

RuntimeListener& MetricsListener();
RuntimeListener& ProfilerListener();

}  // namespace xlaprof::lazy
