// Recompilation told from counts alone: metrics reports, or torch_xla's own "CompileTime too
// frequent" lines.
#pragma once

#include <set>

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// One finding at most for each process of which the counts tell more compiles than table compile
// has rows, and that is not in `told`: those whose rows were a pattern by themselves. Where there
// are rows (a profile that saw a window of the run), only a warning is worth it. Neither place nor
// reason is known; the state is, where reports or lines follow each other. None for a part of the
// run's time.
absl::StatusOr<Findings> FromCounts(const Store& store, const std::set<int64_t>& told);

}  // namespace xlaprof
