// Which node of one listing is which node of another: an alignment of two sequences of nodes.
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
  std::vector<int> before_to_after;  // the other way round
  bool same_kinds = false;           // both sequences have the same kinds in the same order
  bool too_different = false;  // gave up between common head and tail: what lies there is unmatched
};

// Sequences with the same kinds are matched one to one. Others are matched by equal content first
// (longest common subsequence), then by kind inside the gaps.
Alignment Align(std::span<const AlignKey> before, std::span<const AlignKey> after);

}  // namespace xlaprof
