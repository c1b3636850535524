// How often inputs of each shape came, by which padding is weighed.
#pragma once

#include <cstdint>
#include <map>

#include "analyzers/recompile/recompile_group.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// By row of table graph, those of equal hashes together; who was not executed is left out.
using GraphExecutions = std::map<int64_t, int64_t>;
absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Store& store);

// Sets other_executions: of the graphs of the group's site that its causes do not compare, such as
// the first.
absl::Status CountOthers(const Store& store, RecompileGroup* group);

}  // namespace xlaprof
