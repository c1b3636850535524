// Groups of recompiles of one site that have one reason.
//
// Finds the change that explains each recompile of a site, because several things may change at
// once. Each recompile lists all changes that would have been enough. The change that explains most
// of the recompiles takes those first, then the one that explains most of the rest. So a change
// that happened once does not hide the one that happens in each step.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/cause.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/recompile/padding.h"
#include "analyzers/recompile/state.h"
#include "base/xla_shape.h"

namespace xlaprof {

struct RecompileGroup {
  const CompileSite* site = nullptr;
  const StepsSeen* steps = nullptr;
  std::vector<const CompileFact*> compiles;  // the explained compiles, in order
  // The cause that puts each compile here, at least one. Causes that come from sizes alone are
  // listed only if no compile's graph shows the cause.
  std::vector<RecompileCause> causes;
  size_t clearest = 0;  // index in `causes`, for the compile whose graph differs least
  const std::map<int64_t, int64_t>* executions = nullptr;  // by graph row; missing ones are unknown
  std::map<std::string, int64_t> other_executions;         // of other graphs of the site, by shape
  bool counts_all_executions = true;   // false: it is not known which graph many executions ran
  // Uploads of its process, by bytes; null if none is known.
  const std::map<int64_t, int64_t>* uploads = nullptr;
  size_t from_sizes = 0;               // compiles without graphs, if `causes` come from graphs
  size_t carried = 0;                  // compiles that only likely have the cause of the others
  std::vector<RecompileCause> beside;  // other changes that accompanied each compile
  bool may_be_one_step = false;        // the compiles may be those of calls in one step
  // Groups of other parts of a divided graph that were united with this one (graph_parts.h).
  size_t parts = 1;
  size_t compiles_of_others = 0;                              // at the sites of the others
  std::vector<std::pair<SourcePlace, int64_t>> other_places;  // and their compiles in this group
  RecompileState state;
  const RecompileCause& cause() const { return causes[clearest]; }
};

// The sizes that the input of a shape_change took.
struct SizesSeen {
  XlaShape shape;               // shape in the clearest change, for example f32[64,1,28,28]
  std::vector<int> dimensions;  // those that vary, ascending; empty if the rank varies
  std::vector<Sizes> sizes;     // distinct sizes of these dimensions, in order of appearance
  std::vector<int64_t> times;   // executions of each of `sizes`; empty if not known
  bool came_again = false;      // a graph with one of `sizes` was executed more than once
  // Distinct shapes of one rank, in order of appearance. If the rank varies, this is empty.
  std::vector<XlaShape> shapes;
};
// Returns the sizes that the compiles of a group had, or nothing if the group is no shape_change or
// its clearest change shows no shape.
std::optional<SizesSeen> SizesOf(const RecompileGroup& group);

// Returns the distinct values that the changed item had from the clearest compile on. The first is
// its value before that compile.
std::vector<std::string> ValuesOf(const RecompileGroup& group);

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
