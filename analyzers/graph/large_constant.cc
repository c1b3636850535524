#include "analyzers/graph/large_constant.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "base/array_bytes.h"

namespace xlaprof {

std::optional<LargeConstant> FindLargestConstant(const PrintedGraph& graph) {
  if (graph.printed_as != PrintedForm::kHloOptimized) return std::nullopt;
  LargeConstant largest;
  int at = -1;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!IsConstant(node)) continue;
    const int64_t bytes = ArrayBytes(node.shape);
    if (bytes > largest.bytes)
      largest = {.bytes = bytes, .shape = WithoutLayout(node.shape)}, at = int(i);
  }
  if (at < 0) return std::nullopt;
  const auto reader = std::ranges::find_if(graph.nodes, [&](const GraphNode& node) {
    return !node.location.empty() &&
           std::ranges::any_of(node.operands, [&](const auto& of) { return of.node == at; });
  });
  if (reader != graph.nodes.end()) largest.location = reader->location;
  return largest;
}

}  // namespace xlaprof
