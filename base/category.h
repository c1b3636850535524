// The category classifies an event. Importers and recorders assign it; analyzers and
// exporters select events by it. An event holds the interned word (event.category), which may also
// be a category of the profiler's own that is not in this list.
#pragma once

#include <cstdint>

#include "base/vocabulary.h"

namespace xlaprof {

enum class Category : uint8_t {
  kNone,
  kHost,        // runtime code on the host (TraceMe and the like)
  kScope,       // a user's annotation: xp.Trace, TraceAnnotation
  kStep,        // a user's step annotation, or a device's Steps line
  kPython,      // a call that a Python tracer saw
  kTracing,     // turning Python into a graph
  kCompile,     // the outermost event of a compilation
  kExecute,     // the host's side of an execution
  kTransfer,    // a copy between host and device, as the host sees it
  kInput,       // waiting for or preparing training data
  kModule,      // a program on a device (XLA Modules)
  kOp,          // an op on a device (XLA Ops; hlo_op events of CPUs)
  kAsyncOp,     // an op that overlaps others (Async XLA Ops); it does not count as busy time
  kCollective,  // communication on a device
  kSample,      // a Python function that a sampler found on a stack
};
template <>
struct Vocabulary<Category> {
  static constexpr std::string_view kWords[] = {
      "",         "host",  "scope",  "step", "python",   "tracing",    "compile", "execute",
      "transfer", "input", "module", "op",   "async_op", "collective", "sample"};
};
inline constexpr size_t kCategoryCount = std::size(Vocabulary<Category>::kWords);

}  // namespace xlaprof
