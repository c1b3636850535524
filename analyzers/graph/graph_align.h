// Aligns two sequences of nodes, to find which node of one listing is which node of the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace xlaprof {

// The hashes by which nodes are compared. Nodes of equal `content` are the same; nodes of equal
// `kind` may be one node that changed.
struct AlignKey {
  uint64_t content = 0, kind = 0;
  bool operator==(const AlignKey&) const = default;
};

struct Alignment {
  std::vector<int>
      after_to_before;  // index in `before` of each node of `after`; -1: only in `after`
  std::vector<int> before_to_after;  // index in `after` of each node of `before`
  bool same_kinds = false;           // both sequences have the same kinds in the same order
  bool too_different = false;  // the nodes between the common head and tail were left unmatched
};

// Matches nodes one to one if the sequences have the same kinds. Otherwise matches nodes of equal
// content first (longest common subsequence), then nodes of equal kind inside the gaps.
Alignment Align(std::span<const AlignKey> before, std::span<const AlignKey> after);

}  // namespace xlaprof
