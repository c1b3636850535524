#include "analyzers/graph/op_users.h"

#include <algorithm>

namespace xlaprof {
namespace {

bool ComputesNothing(const GraphNode& node) {
  return node.Is(OpKind::kTuple) || node.Is(OpKind::kElement) ||
         (node.Is(OpKind::kView) && node.Has(OpTrait::kNothing));
}

}  // namespace

std::vector<std::vector<int>> OpUsers(const PrintedGraph& graph) {
  std::vector<std::vector<int>> users(graph.nodes.size());
  // Nodes follow their operands, so that the users of a tuple are complete before the tuple is
  // replaced by them.
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const GraphNode& node = graph.nodes[i];
    if (!node.computation.empty()) continue;
    std::ranges::sort(users[i]);
    const auto same = std::ranges::unique(users[i]);
    users[i].erase(same.begin(), same.end());
    for (const GraphNode::Operand& operand : node.operands) {
      std::vector<int>& of = users[size_t(operand.node)];
      if (size_t(operand.node) >= i) continue;  // a damaged file may name a later node
      if (ComputesNothing(node)) {
        of.insert(of.end(), users[i].begin(), users[i].end());
      } else {
        of.push_back(int(i));
      }
    }
  }
  return users;
}

}  // namespace xlaprof
