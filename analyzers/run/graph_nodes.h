// Answers questions about the nodes of one graph. Graphs may have millions of nodes, so rules query
// only what they need.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/xla_shape.h"

namespace xlaprof {

// Returns the distinct shapes of a graph's nodes with this op, without layouts.
absl::StatusOr<std::set<std::string>> ShapesOfOp(const Run& run, int64_t graph_id,
                                                 std::string_view op);

// Returns how many different places in the source the nodes of a graph were recorded at.
absl::StatusOr<int64_t> CountLocations(const Run& run, int64_t graph_id);

// Returns where the first result of a graph was recorded, or else its first node with a location;
// nothing if no node has one.
absl::StatusOr<OptText> LocationOfResult(const Run& run, int64_t graph_id);

// Inputs of one shape that one line uses.
struct InputsOfLine {
  int64_t count = 0;
  XlaShape shape;
  SourcePlace place;  // empty if a line of a library uses them
};
// Returns the inputs of a graph that are at least a vector, grouped by shape and line.
absl::StatusOr<std::vector<InputsOfLine>> InputsByLine(const Run& run, int64_t graph_id);
// Returns the most of them that one line of the user's code uses; nothing if no such line is known.
absl::StatusOr<std::optional<InputsOfLine>> MostInputsOfOneLine(const Run& run, int64_t graph_id);

// The results of a graph, from the first form in which it was printed: an IR dump, if there is one.
// Run::Get takes the graph's id.
struct GraphResults {
  std::vector<XlaShape> shapes;  // without layouts; HLO gives a program's results as one tuple
  std::string ops;         // the ops that make them and their locations, equal for the same values
  std::string location;    // of the first op, as it was printed; "" if unknown
  bool are_placed = true;  // the location of each op is known

  static absl::StatusOr<GraphResults> Of(const Run& run, int64_t graph_id);
};

// An instruction that calls a Python function: jax.debug.callback, jax.debug.print, pure_callback,
// io_callback.
struct CallbackNode {
  std::string name, location, framework_op;  // "" if not printed
};
absl::StatusOr<std::vector<CallbackNode>> PythonCallbacks(const Run& run);

}  // namespace xlaprof
