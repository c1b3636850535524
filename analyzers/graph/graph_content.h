// Reduces a node of a printed graph to the parts that decide the graph's hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// Returns the attributes that affect the computation. Source places, names of called computations,
// the backend's tuning and attributes that repeat the shape are left out.
std::string ContentAttributes(std::string_view attributes);

// Returns the attributes in which two lists differ, for each list: {"slice={[1:2]}",
// "slice={[2:3]}"}.
std::pair<std::string, std::string> DifferingAttributes(std::string_view a, std::string_view b);
// Returns the value of one attribute, or "".
std::string AttributeOf(std::string_view key, std::string_view attributes);

// Returns JAX's name of a parameter, such as state['w'] for argument="state['w']"; "" without one.
std::string ArgumentOf(const GraphNode& parameter);

// Returns the number of an input, which is printed as an attribute of the op's own name (parameter=0);
// -1 without one.
int64_t InputNumber(const GraphNode& input);

bool IsInput(const GraphNode& node);     // a parameter of the whole graph
bool IsConstant(const GraphNode& node);  // a number in the graph

// Returns a hash of a node's own content: its op, shape and attributes, but not its operands.
uint64_t ContentHash(const GraphNode& node);

// Returns a hash of the op and rank of a node, which a changed node keeps.
uint64_t KindHash(const GraphNode& node);

// Returns the sorted content hashes of a graph's nodes. Graphs with equal lists have equal content.
// MultisetDistance compares lists cheaply.
std::vector<uint64_t> ContentHashes(const PrintedGraph& graph);

// Returns the number of elements that only one of two sorted lists has.
int64_t MultisetDistance(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

}  // namespace xlaprof
