// Judges a group of recompiles: when they happened, and whether a clean program has them, too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analyzers/recompile/cause_group.h"

namespace xlaprof {

// Sets when in the run the group's compiles happened.
void SetState(RecompileGroup& group);

// Returns whether the graph only differs in state that an earlier step made. Any program with such
// state compiles a second graph for it.
bool IsNewState(const RecompileGroup& group);

// Returns whether the compiles may be those of other programs, such as an evaluation: no source
// names the places that compile, the graphs differ in their ops, and most of them ran more than
// once, or, if most executions do not name their graph, few steps compile.
bool MayBeOtherPrograms(const RecompileGroup& group,
                        const std::map<std::string, int64_t>& executions);

// Returns whether the compiles are those of other pieces of the program that are cut at the same
// place, such as what comes before the first step, or an evaluation: there are few of them, their ops
// differ, and all but one ran again.
bool AreOtherPieces(const RecompileGroup& group, const std::map<std::string, int64_t>& executions);

// Returns whether a few sizes of an input were all compiled in the first steps that use one of them, as
// buckets are. An evaluation may begin late in the run.
bool AreFewSizesOfStart(const RecompileGroup& group);

// Returns whether the second of two sizes is smaller and comes rarely, as the last batch of an
// epoch does. `executions` is by graph.
bool IsRareSmallerSize(const RecompileGroup& group, const SizesSeen& sizes,
                       const std::map<std::string, int64_t>& executions);

// Returns whether a group is more than a clean program has. `compiling_ns` is the compile time of
// the whole process, with which the cost is compared if no step is known.
bool NeedsFixing(const RecompileGroup& group, std::optional<double> share_of_time, OptInt cost_ns,
                 int64_t compiling_ns, bool is_rare_smaller_size);

}  // namespace xlaprof
