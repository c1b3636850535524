// Implements Diff by aligning two graphs node by node. A changed node is an origin if its inputs
// have the same shapes in both graphs. Otherwise its change is a consequence.
#include "analyzers/graph/graph_diff.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_diff_internal.h"
#include "analyzers/graph/graph_listing.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns, by place, whether a node is computed from constants only.
std::vector<bool> ComputedFromConstants(const GraphListing& listing) {
  std::vector<bool> constant(listing.nodes.size(), false);
  for (size_t p = 0; p < constant.size(); ++p) {
    const GraphNode& node = listing.Node(static_cast<int>(p));
    constant[p] = IsConstant(node) || (!IsInput(node) && !node.operands.empty());
    for (const GraphNode::Operand& operand : node.operands) {
      const int read = listing.place[operand.node];
      if (read >= 0 && !constant[read]) constant[p] = false;
    }
  }
  return constant;
}

// Returns whether the operands of a node of each graph have equal shapes.
bool ReadsTheSameShapes(const AlignedGraphs& graphs, const GraphNode& before,
                        const GraphNode& after) {
  return std::ranges::equal(before.operands, after.operands, [&](const auto& x, const auto& y) {
    return WithoutLayout(graphs.before.graph->nodes[x.node].shape) ==
           WithoutLayout(graphs.after.graph->nodes[y.node].shape);
  });
}

// Returns, by place in the newer graph, whether the op is a broadcast that has another size because
// what it is combined with has: softmax() repeats its sums along the keys of a growing cache. The
// size of the other operand must have a cause of its own.
std::vector<bool> FollowingBroadcasts(const AlignedGraphs& graphs) {
  const GraphListing &after = graphs.after, &before = graphs.before;
  const size_t count = after.nodes.size();
  const auto shape_of = [](const GraphListing& listing, int place) {
    return WithoutLayout(listing.Node(place).shape);
  };
  // `resized` says whether a node has another size for another reason than that of a broadcast.
  std::vector<bool> resized(count, false), follows(count, false);
  for (size_t p = 0; p < count; ++p) {
    const int place = static_cast<int>(p), old = graphs.match.after_to_before[p];
    if (old < 0 || !graphs.changed[p] || shape_of(before, old) == shape_of(after, place)) continue;
    const GraphNode& node = after.Node(place);
    resized[p] = !node.Is(OpKind::kBroadcast) && ReadsTheSameShapes(graphs, before.Node(old), node);
    for (const GraphNode::Operand& operand : node.operands) {
      const int read = after.place[operand.node];
      if (read >= 0 && resized[read]) resized[p] = true;
    }
  }
  for (size_t p = 0; p < count; ++p) {
    const std::vector<GraphNode::Operand>& operands = after.Node(static_cast<int>(p)).operands;
    for (const GraphNode::Operand& operand : operands) {
      const int read = after.place[operand.node];
      if (read < 0 || !after.Node(read).Is(OpKind::kBroadcast)) continue;
      const std::string shape = shape_of(after, read);
      follows[read] = follows[read] || std::ranges::any_of(operands, [&](const auto& other) {
                        const int beside = after.place[other.node];
                        return beside >= 0 && resized[beside] && shape_of(after, beside) == shape;
                      });
    }
  }
  return follows;
}

// Returns the differences of changed nodes that read the same shapes as before.
std::vector<GraphDifference> ChangedNodes(const AlignedGraphs& graphs) {
  std::vector<GraphDifference> origins;
  const std::vector<bool> constant = ComputedFromConstants(graphs.after);
  const std::vector<bool> follows = FollowingBroadcasts(graphs);
  for (size_t j = 0; j < graphs.after.nodes.size(); ++j) {
    if (!graphs.changed[j]) continue;
    const int place = static_cast<int>(j), i = graphs.match.after_to_before[j];
    const GraphNode &before = graphs.before.Node(i), &after = graphs.after.Node(place);
    if (!ReadsTheSameShapes(graphs, before, after)) continue;
    GraphDifference difference = CompareNodes(before, after);
    difference.before_index = graphs.before.nodes[i];
    difference.node_index = graphs.after.nodes[place];
    difference.follows |= constant[j] || follows[j];
    origins.push_back(std::move(difference));
  }
  return origins;
}

GraphDiff DiffNodeByNode(const PrintedGraph& before, const PrintedGraph& after,
                         NewStateIs new_state) {
  const AlignedGraphs graphs = AlignGraphs(before, after);
  GraphDiff diff;
  diff.differing_nodes = static_cast<int64_t>(std::ranges::count(graphs.changed, true) +
                                              std::ranges::count(graphs.match.after_to_before, -1) +
                                              std::ranges::count(graphs.match.before_to_after, -1));
  std::optional<GraphDifference> structure = StructureChange(graphs, new_state);
  const bool inputs_only = structure && structure->type == ReasonType::kParameterSharingChange;
  if (!inputs_only) diff.origins = ChangedNodes(graphs);
  std::stable_sort(diff.origins.begin(), diff.origins.end(), [](const auto& x, const auto& y) {
    auto rank = [](const GraphDifference& d) { return d.is_input ? 0 : d.follows ? 2 : 1; };
    return rank(x) < rank(y);
  });
  if (structure) {
    // Changed inputs explain new ops, so they come first. Added or removed ops make the alignment
    // of the others doubtful.
    auto place = diff.origins.begin();
    if (graphs.before.inputs == graphs.after.inputs) {
      while (place != diff.origins.end() && place->is_input) ++place;
    }
    diff.origins.insert(place, *std::move(structure));
  }
  if (diff.origins.size() > kMaxOrigins) diff.origins.resize(kMaxOrigins);
  return diff;
}

}  // namespace

GraphDifference CompareNodes(const GraphNode& before, const GraphNode& after, bool partitioned) {
  GraphDifference d{.node = after.op, .is_input = IsInput(after)};
  const std::string shape_a = WithoutLayout(before.shape), shape_b = WithoutLayout(after.shape);
  const auto [attributes_a, attributes_b] =
      DifferingAttributes(before.attributes, after.attributes);
  d.before = shape_a, d.after = shape_b;
  d.resized = shape_a != shape_b;
  // A text that is not a shape is treated as an empty shape.
  const XlaShape parsed_a = XlaShape::Parse(shape_a).value_or(XlaShape()),
                 parsed_b = XlaShape::Parse(shape_b).value_or(XlaShape());
  const bool same_type = parsed_a.element_type() == parsed_b.element_type(),
             same_rank = parsed_a.rank() == parsed_b.rank();
  const bool types_only = parsed_a.dimensions() == parsed_b.dimensions() && !same_type;
  if (d.is_input) {
    d.type = types_only ? ReasonType::kDtypeChange : ReasonType::kShapeChange;
    const std::string sharding_a = AttributeOf("sharding", attributes_a),
                      sharding_b = AttributeOf("sharding", attributes_b);
    const bool shape_follows = partitioned && same_type && same_rank;
    if (sharding_a != sharding_b && (shape_a == shape_b || shape_follows)) {
      d.type = ReasonType::kShardingChange;
      d.before = sharding_a, d.after = sharding_b;
      return d;
    }
    if (shape_a == shape_b) {
      if (attributes_a.starts_with("weak_type") || attributes_b.starts_with("weak_type"))
        d.type = ReasonType::kDtypeChange;
      d.before += " " + attributes_a, d.after += " " + attributes_b;
    }
    if (!same_type && !same_rank) {
      d.type = ReasonType::kOpChange;  // a different input
      d.is_input = false;
      d.before = "input " + shape_a, d.after = "input " + shape_b;
    }
    return d;
  }
  if (types_only && !parsed_a.element_type().empty()) {
    d.type = ReasonType::kDtypeChange;
    return d;
  }
  // The parameter of a computation has the shape that its caller passes. Its number is an index.
  if (after.Is(OpKind::kInput)) {
    d.type = ReasonType::kShapeChange;
    d.follows = true;
    return d;
  }
  if (!same_rank && attributes_a == attributes_b) {
    d.type = ReasonType::kOpChange;  // the same op for another shape
    d.before = fmt::format("{} {}", before.op, shape_a);
    d.after = fmt::format("{} {}", after.op, shape_b);
    return d;
  }
  d.type = ReasonType::kConstantChange;
  if (attributes_a != attributes_b) d.before = attributes_a, d.after = attributes_b;
  return d;
}

GraphDiff Diff(const PrintedGraph& before, const PrintedGraph& after, NewStateIs new_state) {
  GraphDiff diff = after.printed_as == PrintedForm::kHloOptimized
                       ? DiffOptimized(before, after, new_state)
                       : DiffNodeByNode(before, after, new_state);
  // Other inputs explain the rest: they have ops of their own, and move the other inputs.
  if (auto inputs = OtherNamedInputs(before, after)) diff.origins = {*std::move(inputs)};
  return diff;
}

}  // namespace xlaprof
