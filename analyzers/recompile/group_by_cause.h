// Which change is why a site recompiles, where several things may change at once. Each recompile
// lists all changes that would have been enough; the change that explains most of a site's
// recompiles takes those first, then the one that explains most of the rest, so that a change that
// came along once does not hide the one that comes each step.
#pragma once

#include <vector>

#include "analyzers/recompile/cause_group.h"

namespace xlaprof {

// A cause that was told from sizes alone joins the cause of its type that a graph of the same site
// shows.
void MergeCausesGuessedFromSizes(std::vector<CompileReason>* reasons);

// Divides a site's recompiles, `recompiles` of its compiles, among as few of their reasons as
// explain them. The groups point into `site` and `steps`.
std::vector<RecompileGroup> Divide(const CompileSite& site, const StepsSeen& steps,
                                   const std::vector<size_t>& recompiles,
                                   const std::vector<CompileReason>& reasons);

}  // namespace xlaprof
