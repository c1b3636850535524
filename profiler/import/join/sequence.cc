#include "profiler/import/join/sequence.h"

#include <algorithm>

namespace xlaprof {

std::vector<std::pair<int, int>> CommonSubsequence(std::span<const int64_t> a,
                                                   std::span<const int64_t> b) {
  std::vector<std::pair<int, int>> pairs;
  int head = 0, n = int(a.size()), m = int(b.size());
  while (head < n && head < m && a[head] == b[head]) pairs.emplace_back(head, head), ++head;
  int tail = 0;
  while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail]) ++tail;
  int n1 = n - head - tail, m1 = m - head - tail;

  // trace[d][k + d] is the furthest x on diagonal k = x - y after d differences.
  std::vector<std::vector<int>> trace;
  std::vector<int> v(2 * size_t(kMaxDifferences) + 3, 0);
  const int mid = kMaxDifferences + 1;
  bool met = n1 == 0 && m1 == 0;
  for (int d = 0; !met && d <= std::min(n1 + m1, kMaxDifferences); ++d) {
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && v[mid + k - 1] < v[mid + k + 1]) ? v[mid + k + 1]
                                                                     : v[mid + k - 1] + 1;
      int y = x - k;
      while (x < n1 && y < m1 && x >= 0 && y >= 0 && a[head + x] == b[head + y]) ++x, ++y;
      v[mid + k] = x;
      if (x >= n1 && y >= m1) met = true;
    }
    trace.emplace_back(v.begin() + mid - d, v.begin() + mid + d + 1);
  }
  if (met && !trace.empty()) {
    std::vector<std::pair<int, int>> middle;
    int x = n1, y = m1;
    for (int d = int(trace.size()) - 1; d >= 0; --d) {
      int k = x - y;
      int previous_x = 0, previous_y = 0;
      if (d > 0) {
        const std::vector<int>& before = trace[size_t(d) - 1];
        auto at = [&](int diagonal) {
          int index = diagonal + d - 1;
          return index < 0 || index >= int(before.size()) ? -1 : before[size_t(index)];
        };
        int previous_k = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
        previous_x = at(previous_k);
        previous_y = previous_x - previous_k;
      }
      // The snake that ends at (x, y) is the run of matches after the one step from the previous
      // point.
      while (x > 0 && y > 0 && x > previous_x && y > previous_y &&
             a[head + x - 1] == b[head + y - 1]) {
        middle.emplace_back(head + x - 1, head + y - 1);
        --x, --y;
      }
      x = previous_x, y = previous_y;
    }
    pairs.insert(pairs.end(), middle.rbegin(), middle.rend());
  }
  for (int i = tail; i > 0; --i) pairs.emplace_back(n - i, m - i);
  return pairs;
}

}  // namespace xlaprof
