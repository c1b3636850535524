#include "analyzers/graph/loop_count.h"

#include <algorithm>

namespace xlaprof {
namespace {

// Returns the shortest period of [begin, end) that also holds for one turn before it or after it,
// or 0 if there is none.
int Period(std::span<const uint64_t> ops, int begin, int end) {
  const int length = end - begin;
  for (int period = 1; period <= length; ++period) {
    if (length % period != 0) continue;
    bool inside = true;
    for (int i = begin + period; i < end && inside; ++i) inside = ops[i] == ops[i - period];
    if (!inside) continue;
    bool ahead = begin >= period, behind = end + period <= static_cast<int>(ops.size());
    for (int i = 0; i < period; ++i) {
      if (ahead && ops[begin - period + i] != ops[begin + i]) ahead = false;
      if (behind && ops[end + i] != ops[begin + i]) behind = false;
    }
    if (ahead || behind) return period;
  }
  return 0;
}

}  // namespace

std::optional<LoopCount> FindLoopCount(std::span<const uint64_t> ops, std::span<const bool> extra) {
  const int n = static_cast<int>(ops.size());
  int64_t all = 0, repeated = 0;
  std::optional<LoopCount> found;
  for (int begin = 0; begin < n; ++begin) {
    if (!extra[begin]) continue;
    int end = begin;
    while (end < n && extra[end]) ++end;
    const int length = end - begin;
    all += length;
    const int period = Period(ops, begin, end);
    if (period > 0) {
      repeated += length;
      if (!found || period > found->body_length) {
        int first = begin, last = end;
        while (first > 0 && ops[first - 1] == ops[first - 1 + period]) --first;
        while (last < n && ops[last] == ops[last - period]) ++last;
        const int64_t turns = (last - first) / period;
        found = LoopCount{begin, period, turns, turns - length / period};
      }
    }
    begin = end;
  }
  if (!found || repeated * 10 < all * 9) return std::nullopt;
  return found;
}

}  // namespace xlaprof
