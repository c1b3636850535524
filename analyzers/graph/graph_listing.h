// Lists the nodes of two printed graphs and aligns the lists, so that two graphs can be compared
// node by node.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/graph/graph_align.h"
#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// The nodes of a graph without the tuple that gathers the results. The tuple's operands are the
// roots. A node's place is its index in `nodes`.
struct GraphListing {
  const PrintedGraph* graph = nullptr;
  std::vector<int> nodes;        // by place: index in the graph
  std::vector<int> place;        // place of each node of the graph; -1: left out
  std::vector<bool> root, used;  // by place: it is a result; another node reads it
  std::vector<AlignKey> keys;    // by place
  int64_t inputs = 0, roots = 0;

  const GraphNode& Node(int at) const { return graph->nodes[nodes[at]]; }
};

struct AlignedGraphs {
  GraphListing before, after;
  Alignment match;            // of places
  std::vector<bool> changed;  // by place in `after`: matched, but with another content
};

// Lists and aligns two graphs, which must outlive the result.
AlignedGraphs AlignGraphs(const PrintedGraph& before, const PrintedGraph& after);

}  // namespace xlaprof
