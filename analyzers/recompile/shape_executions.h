// How often inputs of each shape came, by which padding is weighed.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/recompile/cause_group.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// By row of table graph, those of equal hashes together; who was not executed is left out.
using GraphExecutions = std::map<int64_t, int64_t>;
absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Run& run);

// Sets other_executions: of the graphs of the group's site that its causes do not compare, such as
// the first.
absl::Status CountOthers(const Run& run, RecompileGroup* group);

}  // namespace xlaprof
