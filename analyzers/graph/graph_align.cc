#include "analyzers/graph/graph_align.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Listings with more edits than this are too different. The search keeps one row of its table per
// edit, so this limits it to about 30 MB and a tenth of a second.
constexpr int kMaxEdits = 2000;

// Finds the longest common subsequence of a[..] and b[..] by Myers' greedy algorithm, and calls
// match(i, j) for each pair. `equal` compares elements. Returns false if it takes more than
// kMaxEdits.
template <class Equal, class Match>
bool CommonSubsequence(int n, int m, const Equal& equal, const Match& match) {
  if (n == 0 || m == 0) return true;
  const int max_edits = std::min(n + m, kMaxEdits);
  std::vector<int> furthest(2 * max_edits + 3, 0);
  std::vector<std::vector<int>> rows;
  const int middle = max_edits + 1;
  for (int d = 0; d <= max_edits; ++d) {
    rows.emplace_back(furthest.begin() + (middle - d - 1), furthest.begin() + (middle + d + 2));
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && furthest[middle + k - 1] < furthest[middle + k + 1])
                  ? furthest[middle + k + 1]
                  : furthest[middle + k - 1] + 1;
      int y = x - k;
      while (x < n && y < m && equal(x, y)) ++x, ++y;
      furthest[middle + k] = x;
      if (x < n || y < m) continue;
      for (int step = d; step > 0; --step) {  // back along the rows
        auto at = [&](int diagonal) { return rows[step][diagonal + step + 1]; };
        const int diagonal = x - y;
        const bool down =
            diagonal == -step || (diagonal != step && at(diagonal - 1) < at(diagonal + 1));
        const int from = down ? diagonal + 1 : diagonal - 1;
        const int from_x = at(from), from_y = from_x - from;
        while (x > from_x && y > from_y) match(--x, --y);
        x = from_x, y = from_y;
      }
      while (x > 0 && y > 0) match(--x, --y);
      return true;
    }
  }
  return false;
}

}  // namespace

Alignment Align(std::span<const AlignKey> before, std::span<const AlignKey> after) {
  const int n = static_cast<int>(before.size()), m = static_cast<int>(after.size());
  Alignment result{.after_to_before = std::vector<int>(m, -1),
                   .before_to_after = std::vector<int>(n, -1)};
  auto pair = [&](int i, int j) {
    result.before_to_after[i] = j;
    result.after_to_before[j] = i;
  };
  result.same_kinds =
      n == m && std::equal(before.begin(), before.end(), after.begin(),
                           [](const AlignKey& a, const AlignKey& b) { return a.kind == b.kind; });
  if (result.same_kinds) {
    for (int i = 0; i < n; ++i) pair(i, i);
    return result;
  }

  int head = 0, tail = 0;
  while (head < n && head < m && before[head] == after[head]) pair(head, head), ++head;
  while (tail < n - head && tail < m - head && before[n - 1 - tail] == after[m - 1 - tail]) {
    pair(n - 1 - tail, m - 1 - tail), ++tail;
  }
  result.too_different = !CommonSubsequence(
      n - head - tail, m - head - tail,
      [&](int i, int j) { return before[head + i] == after[head + j]; },
      [&](int i, int j) { pair(head + i, head + j); });
  if (result.too_different) return result;

  // In the gaps between nodes of equal content, nodes are matched by kind.
  int i = 0, j = 0;
  while (i < n || j < m) {
    if (i < n && result.before_to_after[i] >= 0 && j < m && result.after_to_before[j] >= 0) {
      ++i, ++j;
      continue;
    }
    const int gap_i = i, gap_j = j;
    while (i < n && result.before_to_after[i] < 0) ++i;
    while (j < m && result.after_to_before[j] < 0) ++j;
    CommonSubsequence(
        i - gap_i, j - gap_j,
        [&](int a, int b) { return before[gap_i + a].kind == after[gap_j + b].kind; },
        [&](int a, int b) { pair(gap_i + a, gap_j + b); });
  }
  return result;
}

}  // namespace xlaprof
