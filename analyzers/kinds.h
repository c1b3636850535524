// The analyzers by name, for code that asks of which kind a finding is.
#pragma once

#include "analyzers/analyzer.h"
#include "analyzers/finding.h"

namespace xlaprof {

extern const Analyzer cold_start, device_gap, fallback, graph_break, graph_fragmentation,
    input_bound, large_transfer, missing_donation, missing_step_mark, recompilation,
    recompile_limit, slow_compile, sync_point, tracing_bound;

inline bool IsOf(const Finding& finding, const Analyzer& kind) { return finding.analyzer == &kind; }

}  // namespace xlaprof
