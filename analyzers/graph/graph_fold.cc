#include "analyzers/graph/graph_fold.h"

#include <absl/container/flat_hash_map.h>

#include <utility>

namespace xlaprof {
namespace {

// Returns whether the node is a view, and its shape and layout tell which part of its operand each
// element is. Text that hides attributes does not tell one slice from another, for example.
bool IsTellingView(const GraphNode& node) {
  const bool is_view = node.Is(OpKind::kView) && !node.Has(OpTrait::kPart);
  const bool is_lazy = node.op.find("::") != std::string::npos ||
                       node.framework_op.find("::") != std::string::npos;
  return is_view && is_lazy;
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
