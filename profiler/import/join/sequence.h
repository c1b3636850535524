// Aligns two sequences of tokens that describe the same events with gaps, by their longest common
// subsequence.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace xlaprof {

// Returns the pairs (index in a, index in b) of a longest common subsequence, in order. The
// algorithm is Myers' greedy O(ND) one (E. W. Myers, "An O(ND) Difference Algorithm and Its
// Variations", 1986). If more than kMaxDifferences tokens differ, the middle that is too different
// stays unpaired; common ends are always paired.
inline constexpr int kMaxDifferences = 2000;
std::vector<std::pair<int, int>> CommonSubsequence(std::span<const int64_t> a,
                                                   std::span<const int64_t> b);

}  // namespace xlaprof
