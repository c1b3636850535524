// Counts how often inputs of each shape were executed, to compute the cost of padding.
#pragma once

#include <cstdint>
#include <map>
#include <set>

#include "analyzers/recompile/cause_group.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The number of executions by row of table graph, which is the same for rows with equal hashes.
// Graphs that were not executed are left out.
using GraphExecutions = std::map<int64_t, int64_t>;
absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Run& run);

// Returns the processes of which many executions do not name their graph. How often their other graphs
// were executed is then not known either: only that it was at least so often.
absl::StatusOr<std::set<int64_t>> ProcessesWithUnknownGraphs(const Run& run);

// Sets other_executions of the group: executions of the graphs of its site that its causes do not
// compare, for example the first graph.
absl::Status CountOthers(const Run& run, RecompileGroup* group);

}  // namespace xlaprof
