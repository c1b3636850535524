#include "analyzers/graph/graph_listing.h"

#include "analyzers/graph/graph_content.h"

namespace xlaprof {

static GraphListing MakeListing(const PrintedGraph& graph) {
  GraphListing listing{.graph = &graph};
  const int n = static_cast<int>(graph.nodes.size());
  listing.place.assign(n, -1);
  std::vector<bool> root(n, false);
  int result_tuple = -1;
  for (int i = 0; i < n; ++i) {
    const GraphNode& node = graph.nodes[i];
    root[i] = node.root.has_value();
    if (node.computation.empty() && node.Is(OpKind::kTuple) && (node.root || i == n - 1))
      result_tuple = i;
  }
  if (result_tuple >= 0) {
    for (const GraphNode::Operand& operand : graph.nodes[result_tuple].operands)
      root[operand.node] = true;
  }
  for (int i = 0; i < n; ++i) {
    const GraphNode& node = graph.nodes[i];
    if (i == result_tuple || node.op.empty()) continue;
    listing.place[i] = static_cast<int>(listing.nodes.size());
    listing.nodes.push_back(i);
    listing.root.push_back(root[i]);
    listing.inputs += IsInput(node);
    listing.roots += root[i];
    listing.keys.push_back({ContentHash(node), KindHash(node)});
  }
  listing.used.assign(listing.nodes.size(), false);
  for (int i : listing.nodes) {
    for (const GraphNode::Operand& operand : graph.nodes[i].operands) {
      if (listing.place[operand.node] >= 0) listing.used[listing.place[operand.node]] = true;
    }
  }
  return listing;
}

AlignedGraphs AlignGraphs(const PrintedGraph& before, const PrintedGraph& after) {
  AlignedGraphs graphs{.before = MakeListing(before), .after = MakeListing(after)};
  graphs.match = Align(graphs.before.keys, graphs.after.keys);
  const size_t n = graphs.after.nodes.size();
  graphs.changed.assign(n, false);
  for (size_t j = 0; j < n; ++j) {
    const int i = graphs.match.after_to_before[j];
    graphs.changed[j] = i >= 0 && graphs.before.keys[i].content != graphs.after.keys[j].content;
  }
  return graphs;
}

}  // namespace xlaprof
