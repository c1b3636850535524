// The finding missing_step_mark: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "analyzers/finding.h"
#include "analyzers/graph/unrolled_loop.h"

namespace xlaprof {

// Executions of a program that marked no step. Finding::count is the number of executions.
struct UnmarkedExecutionsFigures {
  enum class Growth : uint8_t {
    kUnknown,
    kNone,
    kGrows,
    kInputsGrow,  // the nodes are not known, but most reads compile a new graph, with more inputs
  };
  Growth growth = Growth::kUnknown;                // growth from the first graph to the last
  std::optional<int64_t> first_nodes, last_nodes;  // nodes of the first and the last graph
  // Inputs of the first and the last graph at the line of most reads, if these grow.
  std::optional<int64_t> first_inputs, last_inputs;
  bool repeats = false;  // the reads belong to several steps, so a mark is missing
  // A loop inside the graph of each read, if most reads evaluate a new graph: its rounds are steps.
  std::optional<UnrolledLoop> loop;
  // Parts of the cost: nodes of earlier steps that ran again, and the compilation of graphs that are
  // new only because they hold earlier steps. Empty if not measured.
  std::optional<int64_t> again_ns, compile_ns;
};

// A metrics report that counts traced operations but no step mark. Finding::count is the number of
// executions, if the report has it.
struct UnmarkedOperationsFigures {
  int64_t traced_operations = 0;
};

using MissingStepMarkFigures = std::variant<UnmarkedExecutionsFigures, UnmarkedOperationsFigures>;

// Says that nothing marks the end of a step, and how the graphs grew.
Words SayMissingStepMark(const Finding& finding, Framework framework);

}  // namespace xlaprof
