// Two printed graphs, compared: the first node, in post-order from the roots, that differs in what decides a graph's
// hash. Ids, names, scopes and locations are no difference.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct GraphNode {
  std::string op, shape, attributes, scope, location, name, computation;
  struct Operand {
    int node = 0, output = 0;
  };
  std::vector<Operand> operands;
  std::optional<int64_t> root;
};

struct PrintedGraph {
  int64_t id = 0;
  std::string hash, printed_as, name;
  std::vector<GraphNode> nodes;
};

absl::StatusOr<PrintedGraph> LoadGraph(const Store& store, int64_t graph_id);

struct GraphDiff {
  std::string type;      // a reason type of DESIGN section 5; "" when the graphs print alike
  std::string node;      // op that differs, such as xla::select or slice
  std::string before, after;
  std::string scope, location;  // of the node in the newer graph, as printed
  std::string near_location;    // nearest location in user code among its operands, users and scope, as printed
  int64_t differing_nodes = 0;  // how many differ in themselves: the distance used to find the nearest graph
};

GraphDiff Diff(const PrintedGraph& before, const PrintedGraph& after);

}  // namespace xlaprof
