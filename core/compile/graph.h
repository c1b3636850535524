// From tensors' values to a graph with a name: which nodes, in which order, what goes in and comes
// out, and the hash by which a compiled program is found again.
#pragma once

#include <vector>

#include "core/compile/program.h"

namespace xlaprof::lazy {

struct TracedGraph {
  // Each after its operands; of equal ones, the first. mark().place of a node is where it, or its
  // equal, is here. Kept alive by the roots.
  std::vector<const Node*> nodes;
  std::vector<NodePtr> roots;
  std::vector<Ref<Data>> parameters;  // of the device_data among the nodes, in their order
  std::vector<Program::Donation> donations;
  Hash hash;
  Hash tensors_hash;           // before sharing and donations
  int64_t executed_again = 0;  // nodes that were part of an execution before
};

// Walks all that `roots` need. One walk at a time in a process, until MakeProgram is done with the
// graph. The hash is made by SetHash, when donations are known.
TracedGraph WalkGraph(std::vector<NodePtr> roots);

// Of all that makes another program: the roots' structure and order, which nodes use which,
// donations, whether it ends a step, and the environment.
void SetHash(TracedGraph& graph, bool ends_step);

Program MakeProgram(const TracedGraph& graph, std::string name);

}  // namespace xlaprof::lazy
