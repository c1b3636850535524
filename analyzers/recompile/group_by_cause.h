// Finds the change that explains each recompile of a site, because several things may change at
// once. Each recompile lists all changes that would have been enough. The change that explains most
// of the recompiles takes those first, then the one that explains most of the rest. So a change
// that happened once does not hide the one that happens in each step.
#pragma once

#include <vector>

#include "analyzers/recompile/cause_group.h"

namespace xlaprof {

// Gives a cause that was guessed from sizes alone the node, scope and place of the cause of its
// type that a graph of the same site shows.
void MergeCausesGuessedFromSizes(std::vector<CompileReason>* reasons);

// Gives a change that the IR does not print the cause that optimised HLO shows for the other changes of
// the same site, if that is one cause.
void ExplainUnprinted(std::vector<CompileReason>* reasons);

// Gives compiles for which no graph was captured, and whose log shows as many inputs and results of the
// same size as before, the cause that graphs show for the others with the same counts and sizes, if that
// is one cause. A change of sizes that the log rounds away counts as the same size.
void CarryCauses(const CompileSite& site, const std::vector<size_t>& recompiles,
                 std::vector<CompileReason>* reasons);

// Divides a site's recompiles among as few of their reasons as possible. `recompiles` are indices
// of its compiles. The groups point into `site` and `steps`.
std::vector<RecompileGroup> Divide(const CompileSite& site, const StepsSeen& steps,
                                   const std::vector<size_t>& recompiles,
                                   const std::vector<CompileReason>& reasons);

}  // namespace xlaprof
