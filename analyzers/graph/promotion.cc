#include "analyzers/graph/promotion.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "analyzers/graph/graph_content.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

bool IsArrayOfDoubles(const GraphNode& node) {
  const std::optional<XlaShape> shape = XlaShape::Parse(WithoutLayout(node.shape));
  return shape && shape->rank() > 0 && IsDoublePrecision(node.shape);
}

// Returns whether a value of doubles is more than a constant or another value in this type.
bool IsComputed(const PrintedGraph& graph, int at, int depth = 0) {
  constexpr int kDeepest = 64;  // no program passes a value on more often
  const GraphNode& node = graph.nodes[at];
  if (!IsDoublePrecision(node.shape) || IsConstant(node)) return false;
  if (!node.known->PassesOn() || node.operands.empty() || depth > kDeepest) return true;
  return IsComputed(graph, node.operands.front().node, depth + 1);
}

// Returns whether the node computes doubles, and none of its operands was computed as one.
bool IsFirst(const PrintedGraph& graph, const GraphNode& node) {
  return IsArrayOfDoubles(node) && !IsConstant(node) && !node.known->PassesOn() &&
         !node.Has(OpTrait::kNothing) &&
         std::ranges::none_of(node.operands,
                              [&](const auto& of) { return IsComputed(graph, of.node); });
}

}  // namespace

bool IsDoublePrecision(const std::string& shape) {
  const std::string_view first = std::string_view(shape).substr(shape.starts_with('('));
  return first.starts_with("f64[") || first.starts_with("c128[");
}

std::optional<Promotion> FindPromotion(const PrintedGraph& graph) {
  const int64_t inputs = std::ranges::count_if(
      graph.nodes, [](const GraphNode& node) { return IsInput(node) && IsArrayOfDoubles(node); });
  if (inputs > 0) return Promotion{.inputs = inputs};
  std::map<std::string, int> places;
  bool found = false;
  std::string of_array;
  for (const GraphNode& node : graph.nodes) {
    if (!IsArrayOfDoubles(node)) continue;
    found = true;
    if (IsConstant(node) && of_array.empty()) of_array = node.location;
    if (IsFirst(graph, node) && !node.location.empty()) ++places[node.location];
  }
  if (!found) return std::nullopt;
  if (!of_array.empty()) return Promotion{.location = of_array, .has_array = true};
  const auto most = std::ranges::max_element(places, {}, [](const auto& of) { return of.second; });
  return Promotion{.location = most == places.end() ? "" : most->first};
}

}  // namespace xlaprof
