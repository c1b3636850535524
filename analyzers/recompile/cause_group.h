// Recompiles of one site with one reason.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/cause.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/recompile/state.h"
#include "core/base/xla_shape.h"

namespace xlaprof {

struct RecompileGroup {
  const CompileSite* site = nullptr;
  const StepsSeen* steps = nullptr;
  std::vector<const CompileFact*> compiles;  // those explained, in order
  std::vector<RecompileCause>
      causes;           // of the compiles, the one that puts each here; those told from sizes alone
                        // only where no compile's graph shows it. At least one
  size_t clearest = 0;  // of `causes`: of the compile whose graph differs least
  const std::map<int64_t, int64_t>* executions = nullptr;  // by graph row; those it lacks: unknown
  std::map<std::string, int64_t> other_executions;  // of the site's other graphs, by inputs' shapes
  size_t from_sizes = 0;  // compiles that no graph shows, where `causes` are told from graphs
  std::vector<RecompileCause> beside;  // other changes that came with every one of them
  RecompileState state;
  const RecompileCause& cause() const { return causes[clearest]; }
};

// The sizes that the input of a shape_change took.
struct SizesSeen {
  XlaShape shape;                // of the clearest change, such as f32[64,1,28,28]
  std::optional<int> dimension;  // the one that varies; empty: several do, or the rank
  std::vector<int64_t> sizes;    // of that dimension, distinct, in the order in which they came
  std::vector<int64_t> times;    // how often each of `sizes` was executed; empty: not known
  std::vector<XlaShape> shapes;  // distinct, of one rank, in the order in which they came
};
std::optional<SizesSeen> SizesOf(const RecompileGroup& group);

// Returns the distinct values that the change took, from the clearest compile on.
std::vector<std::string> ValuesOf(const RecompileGroup& group);

}  // namespace xlaprof
