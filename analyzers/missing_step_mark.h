// The finding missing_step_mark: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "analyzers/finding.h"

namespace xlaprof {

// Executions of a program that marked no step. Finding::count is their number.
struct UnmarkedExecutionsFigures {
  enum class Growth : uint8_t { kUnknown, kNone, kGrows };
  Growth growth = Growth::kUnknown;                // of the graphs, from first to last
  std::optional<int64_t> first_nodes, last_nodes;  // of the first graph and of the last
  bool repeats = false;  // the reads are of more than one step, so a mark is missing
};

// A metrics report that counts traced operations and no step mark. Finding::count is the number of
// executions, if the report has it.
struct UnmarkedOperationsFigures {
  int64_t traced_operations = 0;
};

using MissingStepMarkFigures = std::variant<UnmarkedExecutionsFigures, UnmarkedOperationsFigures>;

// Says that nothing marks the end of a step, and how the graphs grew.
Words SayMissingStepMark(const Finding& finding, Framework framework);

}  // namespace xlaprof
