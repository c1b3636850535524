// Turns tensors' values into a graph: its nodes in order, its inputs and outputs, and the hash by
// which its compiled program is found.
#pragma once

#include <vector>

#include "core/graph/program.h"

namespace xlaprof::lazy {

struct TracedGraph {
  // Each node follows its operands. Of equal nodes, only the first is here. A node's mark().place
  // is its index here, or that of its equal. The roots keep the nodes alive.
  std::vector<const Node*> nodes;
  std::vector<NodePtr> roots;
  std::vector<Ref<Data>> parameters;  // data of the device_data nodes, in their order
  std::vector<Program::Donation> donations;
  Hash hash;
  Hash tensors_hash;           // before donations and the places of nodes are mixed in
  int64_t executed_again = 0;  // nodes that an earlier execution already contained
};

// Walks everything that `roots` need. Only one walk may run at a time in a process, until
// MakeProgram is done with the graph. SetHash makes the hash after donations are known.
TracedGraph WalkGraph(std::vector<NodePtr> roots);

// Hashes everything that changes the program: the roots' structure and order, the operands of each
// node, donations, whether the graph ends a step, and the environment.
void SetHash(TracedGraph& graph, bool ends_step);

Program MakeProgram(const TracedGraph& graph, std::string name);

}  // namespace xlaprof::lazy
