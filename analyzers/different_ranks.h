// The finding different_ranks: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// A rank of a job: a process, or a device of a process that has several.
struct RankLabel {
  std::optional<int64_t> rank;
  std::string device;  // "" if the process has one
  int64_t process_id = 0;
};

// The first thing in which two graphs differ. It is the op `node` that has other operands,
// attributes or shapes, or that only one of them has.
struct RankDifference {
  std::string node;  // the op; "" if the graphs print alike
  bool is_input = false;
  std::string before,
      after;  // in the graph of most ranks, and in the other; "" in a graph without it
};

// Finding::count is the number of ranks that are not like most.
struct DifferentRanksFigures {
  int64_t equal = 0;       // executions with an exchange that all ranks have in common
  RankLabel usual, other;  // two ranks that differ; `usual` is like most
  std::string usual_graph, other_graph;      // their hashes; "" if `other` executes none
  std::optional<RankDifference> difference;  // of these graphs
  int64_t usual_length = 0;                  // all executions with an exchange of `usual`
};

// Says which ranks of a job do not do what the others do, and from when on.
Words SayDifferentRanks(const Finding& finding, Framework framework);

}  // namespace xlaprof
