// Compares two printed graphs: finds the nodes that differ in content that affects a graph's hash,
// and where the difference begins. Ids, names, scopes, locations, layouts and the names of called
// computations do not count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/store/store.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {

struct GraphNode {
  std::string op, shape, attributes, scope, location, name, computation;
  struct Operand {
    int node = 0, output = 0;
    bool operator==(const Operand&) const = default;
  };
  std::vector<Operand> operands;
  std::optional<int64_t> root;
  std::string framework_op;  // aten::mul for an HLO instruction that is part of it; "" if unknown
  // The next two hold what the vocabulary says of `op` and of `framework_op`. Resolve sets them.
  const Op* known = &kUnknownOp;
  const Op* known_framework_op = &kUnknownOp;

  void Resolve(PrintedForm printed_as) {
    known = &FindOp(op, printed_as);
    if (!framework_op.empty()) known_framework_op = &FindFrameworkOp(framework_op);
  }
  bool Is(OpKind kind) const { return known->kind == kind; }
  bool Has(OpTrait trait) const { return known->Has(trait); }
};

struct PrintedGraph {
  int64_t id = 0;
  std::string hash, name;
  PrintedForm printed_as = PrintedForm::kUnknown;
  std::vector<GraphNode> nodes;
};

// Reads a graph with its nodes. Operands without a node are dropped. Returns NotFound if there is
// no such graph.
absl::StatusOr<PrintedGraph> LoadGraph(const Store& store, int64_t graph_id);

// One place where a difference begins: a node that differs although its inputs have the same
// shapes.
struct GraphDifference {
  // A change of shape, dtype, constant, op, loop count, live tensors, sharding, parameter sharing or
  // input structure.
  ReasonType type = ReasonType::kUnknown;
  std::string node;  // the op that differs, for example xla::select or slice
  // Its two values: shapes, attributes, ops or counts; "" in a graph without it.
  std::string before, after;
  int node_index = -1;        // in the newer graph; -1: it is only in the older one
  int before_index = -1;      // in the older graph; -1: it is only in the newer one
  bool is_input = false;      // a parameter of the graph
  bool resized = false;       // its result has another shape
  bool follows = false;       // likely a consequence: a literal, or an op that reads constants only
  bool has_same_ops = false;  // only the operands of ops, or their order, differ
  // Tensors that the older graph makes are inputs of the newer one, as the state of an optimizer
  // that its first step makes. If `is_of_optimizer`, an optimizer's code recorded them.
  bool is_new_state = false, is_of_optimizer = false;
  // A number is a constant in one graph and an input of the other: torch_xla embeds 0 and 1.
  bool is_scalar_or_input = false;
  // Another scalar has the value that this number has as a constant, so as an input it would be
  // shared. Nothing if the graphs do not print values.
  std::optional<bool> has_equal_scalar;
};

struct GraphDiff {
  // First changed inputs, then changes of structure, then of attributes, each in the order of
  // computation, then likely consequences. Empty if the graphs print alike. At most a few dozen.
  std::vector<GraphDifference> origins;
  // The number of nodes that differ, with added and removed ones: the distance by which the nearest
  // graph is chosen.
  int64_t differing_nodes = 0;
};

// Tells whether the newer graph comes early enough to read state that the first step made, such as an
// optimizer's.
enum class NewStateIs : uint8_t { kPossible, kImpossible };

// Returns the difference of two graphs, which must be printed in the same form. Optimised HLO is
// compared as a multiset of instructions, including fused ones, because two programs may be fused
// differently. Other forms are compared node by node.
GraphDiff Diff(const PrintedGraph& before, const PrintedGraph& after,
               NewStateIs new_state = NewStateIs::kPossible);

}  // namespace xlaprof
