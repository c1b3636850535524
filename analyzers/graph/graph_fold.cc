#include "analyzers/graph/graph_fold.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <utility>

namespace xlaprof {
namespace {

// Returns whether the node is a view, and its shape and layout tell which part of its operand each
// element is. Text that hides attributes does not tell one slice from another, for example.
bool IsTellingView(const GraphNode& node) {
  static constexpr std::array<std::string_view, 7> kLazy = {
      "aten::permute", "aten::transpose", "aten::t",      "aten::view",
      "aten::reshape", "aten::unsqueeze", "aten::squeeze"};
  static constexpr std::array<std::string_view, 2> kHlo = {"transpose", "reshape"};
  if (std::ranges::find(kLazy, node.op) != kLazy.end()) return true;
  return node.framework_op.starts_with("aten::") &&
         std::ranges::find(kHlo, node.op) != kHlo.end();
}

std::string KeyOfView(const GraphNode& node) {
  std::string key = node.op + "|" + node.shape + "|" + node.attributes + "|" + node.computation;
  for (const GraphNode::Operand& operand : node.operands)
    key += fmt::format("|{}.{}", operand.node, operand.output);
  return key;
}

}  // namespace

void FoldRepeatedViews(PrintedGraph* graph) {
  if (graph->printed_as != PrintedForm::kIrText && graph->printed_as != PrintedForm::kIrDot &&
      graph->printed_as != PrintedForm::kHlo)
    return;
  absl::flat_hash_map<std::string, int> views;  // the first node of each
  std::vector<int> place(graph->nodes.size());
  std::vector<GraphNode> kept;
  for (size_t i = 0; i < graph->nodes.size(); ++i) {
    GraphNode node = graph->nodes[i];
    for (GraphNode::Operand& operand : node.operands) {
      // An operand that comes later in the listing has no place yet. Such a graph stays as it is.
      if (operand.node < 0 || size_t(operand.node) >= i) return;
      operand.node = place[size_t(operand.node)];
    }
    place[i] = static_cast<int>(kept.size());
    if (IsTellingView(node) && !node.operands.empty() && !node.root) {
      const auto [first, is_new] = views.try_emplace(KeyOfView(node), place[i]);
      place[i] = first->second;
      if (!is_new) continue;
    }
    kept.push_back(std::move(node));
  }
  graph->nodes = std::move(kept);
}

}  // namespace xlaprof
