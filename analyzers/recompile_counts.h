// Recompilation told from counts alone: metrics reports, or torch_xla's own "CompileTime too
// frequent" lines.
#pragma once

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One finding at most for each process that has no row in table compile. Neither place nor reason
// is known; the state is, where reports or lines follow each other.
absl::StatusOr<Findings> FromCountsAlone(const Store& store);

}  // namespace xlaprof
