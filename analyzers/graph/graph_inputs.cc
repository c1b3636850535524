#include "analyzers/graph/graph_inputs.h"

#include <algorithm>
#include <map>
#include <string>

#include "analyzers/graph/graph_content.h"
#include "base/source_place.h"
#include "base/xla_shape.h"
#include "profiler/vocabulary/code.h"

namespace xlaprof {
namespace {

// Returns the shapes of the results, without layouts, in order of their text.
std::vector<std::string> ResultShapes(const PrintedGraph& graph) {
  std::vector<std::string> shapes;
  for (const GraphNode& node : graph.nodes) {
    if (!node.root || !node.computation.empty()) continue;
    if (!node.Is(OpKind::kTuple)) {
      shapes.push_back(WithoutLayout(node.shape));
      continue;
    }
    for (const GraphNode::Operand& operand : node.operands)
      shapes.push_back(WithoutLayout(graph.nodes[size_t(operand.node)].shape));
  }
  std::ranges::sort(shapes);
  return shapes;
}

// Returns the number of results. A node that is two results is printed as one of them.
int64_t ResultCount(const PrintedGraph& graph) {
  int64_t count = 0;
  for (const GraphNode& node : graph.nodes) {
    if (!node.root || !node.computation.empty()) continue;
    if (node.Is(OpKind::kTuple)) return int64_t(node.operands.size());
    count = std::max(count, *node.root + 1);
  }
  return count;
}

// Returns the inputs of `after` that `before` does not have, compared by `key`.
template <typename Key>
std::vector<int> InputsBeyond(const PrintedGraph& after, const PrintedGraph& before,
                              const Key& key) {
  std::map<std::string, int> left;
  for (const GraphNode& node : before.nodes) {
    if (IsInput(node)) ++left[key(node)];
  }
  std::vector<int> beyond;
  for (size_t i = 0; i < after.nodes.size(); ++i) {
    if (IsInput(after.nodes[i]) && --left[key(after.nodes[i])] < 0) beyond.push_back(int(i));
  }
  return beyond;
}

std::string ShapeOfInput(const GraphNode& node) { return WithoutLayout(node.shape); }
std::string ShapeAndPlace(const GraphNode& node) {
  return WithoutLayout(node.shape) + "|" + node.location;
}

// Returns the printed value of a constant, or "".
std::string ValueOfConstant(const GraphNode& node) {
  const std::string literal = AttributeOf("literal", node.attributes);
  return literal.empty() ? AttributeOf("value", node.attributes) : literal;
}

// Returns whether an op combines elements of different places, as a product of matrices does.
bool MixesElements(const GraphNode& node) {
  const bool reorders = node.Is(OpKind::kView) && !node.Has(OpTrait::kNothing);
  return reorders || node.Is(OpKind::kContraction) || node.Is(OpKind::kReduce) ||
         node.Is(OpKind::kCollective) || node.Is(OpKind::kGather) || node.Is(OpKind::kUpdate);
}

// Returns whether the graph updates the input: a result of its shape comes from it, element by
// element, as a moving average does. A weight that the graph only reads is no state.
bool IsUpdated(const PrintedGraph& graph, int input) {
  const std::string shape = WithoutLayout(graph.nodes[size_t(input)].shape);
  std::vector<bool> reached(graph.nodes.size(), false);
  reached[size_t(input)] = true;
  for (size_t i = size_t(input) + 1; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool reads = std::ranges::any_of(
        node.operands, [&](const auto& operand) { return reached[size_t(operand.node)]; });
    if (!reads) continue;
    if (node.Is(OpKind::kTuple) && node.root) return true;
    const std::optional<XlaShape> own = XlaShape::Parse(node.shape);
    reached[i] = (own && own->is_tuple()) ||
                 (WithoutLayout(node.shape) == shape && !MixesElements(node));
    if (reached[i] && node.root) return true;
  }
  return false;
}

}  // namespace

bool IsScalar(const GraphNode& node) {
  const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
  return shape && !shape->is_tuple() && shape->rank() == 0;
}

int LostScalar(const PrintedGraph& graph, const PrintedGraph& other) {
  for (const int i : InputsBeyond(graph, other, ShapeAndPlace)) {
    if (IsScalar(graph.nodes[size_t(i)])) return i;
  }
  return -1;
}

// Returns the first scalar of a kind that is recorded at `location`, or -1.
static int ScalarAt(const PrintedGraph& graph, const std::string& location,
                    bool (*is)(const GraphNode&)) {
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (is(node) && IsScalar(node) && node.location == location) return int(i);
  }
  return -1;
}

int ScalarInputAt(const PrintedGraph& graph, const std::string& location) {
  return location.empty() ? -1 : ScalarAt(graph, location, IsInput);
}

int ConstantAt(const PrintedGraph& graph, const std::string& location) {
  return ScalarAt(graph, location, IsConstant);
}

std::optional<bool> HasEqualScalar(const PrintedGraph& graph, const GraphNode& constant) {
  const std::string value = ValueOfConstant(constant);
  if (value.empty()) return std::nullopt;
  return std::ranges::any_of(graph.nodes, [&](const GraphNode& node) {
    const bool is_number = FindTorchOp(node.op).kind == OpKind::kConstant ||
                           node.known_framework_op->kind == OpKind::kConstant;
    return IsConstant(node) && is_number && ValueOfConstant(node) == value &&
           WithoutLayout(node.shape) == WithoutLayout(constant.shape);
  });
}

std::vector<int> NewStateInputs(const PrintedGraph& before, const PrintedGraph& after,
                                bool only_state) {
  const std::vector<int> added = InputsBeyond(after, before, ShapeOfInput);
  for (const int i : InputsBeyond(before, after, ShapeOfInput)) {
    if (!IsScalar(before.nodes[size_t(i)])) return {};
  }
  const std::vector<std::string> results = ResultShapes(after);
  const std::vector<std::string> earlier = ResultShapes(before);
  if (ResultCount(after) != ResultCount(before) ||
      !std::ranges::all_of(earlier, [&](const std::string& shape) {
        return std::ranges::binary_search(results, shape);
      }))
    return {};
  std::vector<int> state;
  size_t tensors = 0;
  for (const int i : added) {
    const GraphNode& node = after.nodes[size_t(i)];
    if (IsScalar(node)) continue;
    ++tensors;
    if (std::ranges::binary_search(results, WithoutLayout(node.shape)) && IsUpdated(after, i))
      state.push_back(i);
  }
  const bool is_enough = only_state ? state.size() == tensors : 10 * state.size() >= 8 * tensors;
  return state.size() >= 2 && is_enough ? state : std::vector<int>();
}

bool HaveSameResults(const PrintedGraph& before, const PrintedGraph& after) {
  return ResultShapes(before) == ResultShapes(after);
}

std::string ResultsText(int64_t count) {
  return fmt::format("{} {}", count, count == 1 ? "result" : "results");
}

bool HasResult(const PrintedGraph& graph, const std::string& shape) {
  return std::ranges::binary_search(ResultShapes(graph), WithoutLayout(shape));
}

bool IsOfOptimizer(const GraphNode& node) {
  const SourcePlace place = SourcePlace::Parse(node.location);
  return FindPrintedCode(place.file).owner == CodeOwner::kOptimizer ||
         OwnerOfFunction(place.function) == CodeOwner::kOptimizer;
}

}  // namespace xlaprof
