// Recompiles of one site with one reason, and the words for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/recompile/recompile_facts.h"
#include "analyzers/recompile/recompile_reason.h"
#include "analyzers/recompile/recompile_state.h"
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
  std::vector<std::string> beside;  // other changes that came with every one of them: op and place
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

// The leading dimension of an input that has several is its batch nearly always; "dimension 2" of
// others, "length" of the only one.
std::string DimensionName(int dimension, size_t rank);

// What compiled, as a reader calls it: `train_step`, "train step", "the cut at train.py:7".
std::string SiteName(const RecompileGroup& group);

std::string RecompileTitle(const RecompileGroup& group, const std::optional<SizesSeen>& sizes);
std::string RecompileReasonText(const RecompileGroup& group);
std::string RecompileAdvice(const RecompileGroup& group, const std::optional<SizesSeen>& sizes,
                            bool rare_size);

}  // namespace xlaprof
