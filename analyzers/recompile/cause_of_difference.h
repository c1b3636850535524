// Turns one difference between two printed graphs into the cause of a recompile.
#pragma once

#include "analyzers/graph/graph_diff.h"
#include "analyzers/recompile/cause.h"
#include "analyzers/run/user_code.h"

namespace xlaprof {

// Returns the cause that a difference from Diff(before, after) shows, with the place of its node in
// the user's code. Does not set the cause's seen_in, graph_before and graph_after.
RecompileCause CauseOfDifference(const GraphDifference& difference, const PrintedGraph& before,
                                 const PrintedGraph& after, const UserCode& code);

}  // namespace xlaprof
