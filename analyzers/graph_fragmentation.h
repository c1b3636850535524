// The finding graph_fragmentation: figures and words.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "analyzers/finding.h"

namespace xlaprof {

// Executions that were recorded with their steps. Finding::count is the number of executions.
struct RecordedPiecesFigures {
  int64_t pieces_per_step = 0;  // median
  int64_t steps = 0;
  int64_t forced = 0;  // executions that a read forced before the step mark
};

// Executions and step marks as a metrics report counts them. Finding::count is the number of
// executions, and Finding::per_step is the number of pieces per step.
struct CountedPiecesFigures {
  std::string metric;  // the metric that counts the executions
  int64_t step_marks = 0;
};

using GraphFragmentationFigures = std::variant<RecordedPiecesFigures, CountedPiecesFigures>;

// Says that a step runs as several executions, and how many of them a read forced.
Words SayGraphFragmentation(const Finding& finding, Framework framework);

}  // namespace xlaprof
