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
  int64_t forced = 0;       // executions that a read forced before the step mark
  int64_t inner_marks = 0;  // executions by step marks inside steps
};

// Executions and step marks as a metrics report counts them. Finding::count is the number of
// executions, and Finding::per_step is the number of pieces per step.
struct CountedPiecesFigures {
  std::string metric;  // the metric that counts the executions
  int64_t step_marks = 0;
};

// Executions of single JAX operations that were called outside of jit, between executions of a
// jitted function. Finding::count is their number.
struct OperationsOutsideJitFigures {
  std::string function;                               // the jitted function, such as jit_step
  int64_t function_executions = 0;                    // its executions
  double per_execution = 0;                           // operations for each of these
  std::vector<std::pair<std::string, int64_t>> most;  // operations with most executions
  bool has_others = false;                            // there are more than `most`
  std::vector<SourcePlace> lines;                     // the user's lines that call most of them
};

using GraphFragmentationFigures =
    std::variant<RecordedPiecesFigures, CountedPiecesFigures, OperationsOutsideJitFigures>;

// Says that a step runs as several executions, and how many of them a read forced.
Words SayGraphFragmentation(const Finding& finding, Framework framework);

}  // namespace xlaprof
