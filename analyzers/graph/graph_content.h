// Reduces a node of a printed graph to what decides the graph's hash.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_diff.h"

namespace xlaprof {

// The attributes that take part in the computation: source places, names of called computations,
// backend's tuning and what repeats the shape are left out.
std::string ContentAttributes(std::string_view attributes);

// Returns the attributes in which two lists differ, for each list: {"slice={[1:2]}",
// "slice={[2:3]}"}.
std::pair<std::string, std::string> DifferingAttributes(std::string_view a, std::string_view b);
// The value of one attribute; "" where there is none.
std::string AttributeOf(std::string_view key, std::string_view attributes);

bool IsInput(const GraphNode& node);     // a parameter of the whole graph
bool IsConstant(const GraphNode& node);  // a number in the graph

// A node's own content: op, shape and attributes; not its operands.
uint64_t ContentHash(const GraphNode& node);

// Returns a hash of what a changed node keeps: its op and rank.
uint64_t KindHash(const GraphNode& node);

// Content hashes of a graph's nodes, sorted: equal lists, equal content. Cheap to compare with
// MultisetDistance.
std::vector<uint64_t> ContentHashes(const PrintedGraph& graph);

// How many elements are in one of two sorted lists and not in the other.
int64_t MultisetDistance(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b);

}  // namespace xlaprof
