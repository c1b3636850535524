// Two printed graphs, compared: which nodes differ in what decides a graph's hash, and where it
// began. Ids, names, scopes, locations, layouts and the names of called computations are no
// difference.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GraphNode {
  std::string op, shape, attributes, scope, location, name, computation;
  struct Operand {
    int node = 0, output = 0;
    bool operator==(const Operand&) const = default;
  };
  std::vector<Operand> operands;
  std::optional<int64_t> root;
};

struct PrintedGraph {
  int64_t id = 0;
  std::string hash, name;
  PrintedForm printed_as = PrintedForm::kUnknown;
  std::vector<GraphNode> nodes;
};

// Reads a graph with its nodes. Operands that point nowhere
// are dropped. NotFound if there is no such graph.
absl::StatusOr<PrintedGraph> LoadGraph(const Store& store, int64_t graph_id);

// One place where a difference began: a node that differs although what it reads has the same
// shapes.
struct GraphDifference {
  // Shape, dtype, constant, op, loop count, live tensors or parameter sharing.
  ReasonType type = ReasonType::kUnknown;
  std::string node;  // op that differs, such as xla::select or slice
  std::string before, after;  // its two values: shapes, attributes, ops or counts
  int node_index = -1;        // in the newer graph; -1: it is only in the older one
  int before_index = -1;      // in the older graph; -1: it is only in the newer one
  bool is_input = false;      // a parameter of the graph
  bool resized = false;       // its result has another shape
  bool follows = false;       // likely a consequence: a literal, or an op that reads constants only
};

struct GraphDiff {
  // Inputs that changed first, then changes of structure, then of attributes, each in the order of
  // computation, then likely consequences. Empty when the graphs print alike. At most a few dozen.
  std::vector<GraphDifference> origins;
  int64_t differing_nodes =
      0;  // how many differ in themselves: the distance used to find the nearest graph
};

// Both graphs must be printed in the same form; optimised HLO is compared as a multiset of
// instructions, fused ones included, since two programs may be fused differently; other forms node
// by node.
GraphDiff Diff(const PrintedGraph& before, const PrintedGraph& after);

}  // namespace xlaprof
