// Reads a graph with its nodes from a store.
#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "analyzers/graph/graph_diff.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

std::vector<GraphNode::Operand> ParseOperands(std::string_view text) {
  std::vector<GraphNode::Operand> operands;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    std::string_view one = text.substr(0, comma);
    text.remove_prefix(std::min(text.size(), comma + 1));
    const std::optional<int> node = TakeInteger<int>(&one);
    if (!node) break;
    if (one.starts_with('.')) one.remove_prefix(1);
    operands.push_back({*node, TakeInteger<int>(&one).value_or(0)});
  }
  return operands;
}

}  // namespace

absl::StatusOr<PrintedGraph> LoadGraph(const Store& store, int64_t graph_id) {
  PrintedGraph graph{.id = graph_id};
  bool found = false;
  XP_TRY(store.Each(
      "SELECT coalesce(hash, ''), coalesce(printed_as, 'unknown'), coalesce(name, '') FROM graph "
      "WHERE id = ?1",
      [&](std::string hash, PrintedForm printed_as, std::string name) {
        graph.hash = std::move(hash), graph.printed_as = printed_as, graph.name = std::move(name);
        found = true;
      },
      graph_id));
  if (!found) return NotFound("graph {}: no such row", graph_id);
  absl::flat_hash_map<int64_t, int> index;
  XP_TRY(store.Each(
      "SELECT idx, op, shape, operands, coalesce(attributes, ''), coalesce(scope, ''), "
      "coalesce(location, ''), root, "
      "coalesce(name, ''), coalesce(computation, ''), coalesce(framework_op, '') FROM graph_node "
      "WHERE graph_id = ?1 ORDER BY idx",
      [&](int64_t idx, std::string_view op, std::string_view shape, std::string_view operands,
          std::string_view attributes, std::string_view scope, std::string_view location,
          OptInt root, std::string_view name, std::string_view computation,
          std::string_view framework_op) {
        index[idx] = static_cast<int>(graph.nodes.size());
        graph.nodes.push_back({std::string(op), std::string(shape), std::string(attributes),
                               std::string(scope), std::string(location), std::string(name),
                               std::string(computation), ParseOperands(operands), root,
                               std::string(framework_op)});
        graph.nodes.back().Resolve(graph.printed_as);
      },
      graph_id));
  for (GraphNode& node : graph.nodes) {
    std::erase_if(node.operands, [&](GraphNode::Operand& operand) {
      const auto at = index.find(operand.node);
      if (at == index.end()) return true;
      operand.node = at->second;
      return false;
    });
  }
  return graph;
}

}  // namespace xlaprof
