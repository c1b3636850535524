// Words about compilations that several kinds of findings share.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/timed_compilation.h"

namespace xlaprof {

// Returns "2.3 s, 70 nodes, program of 1 KB, graph abc, train.py:3", as far as it is known.
std::string Describe(const TimedCompilation& compilation);
// Says how many steps take as long as compiling, and how many pay it back; "" if unknown.
std::string StepsText(const std::optional<CompileSteps>& steps);
// Returns "; 2 s of it is tracing and lowering on the host", or "".
std::string TracingNote(const TracingBefore& tracing);
std::string_view Name(CompilePhase phase);

// Return what is said of compilations that are only counted and summed.
std::string SumTitle(int64_t count, int64_t ns, int64_t longest_ns, bool longest_is_known);
std::string_view GraphsAreNotTold(Framework framework);
std::string SumNote(Framework framework);
// Returns the advice for a graph that holds several rounds of a loop.
std::string MarkRoundsAdvice(Framework framework);

// Return how to compile less often, and how to trace less.
std::string_view KeepCacheAdvice(Framework framework);
std::string LessTracingAdvice(Framework framework);

}  // namespace xlaprof
