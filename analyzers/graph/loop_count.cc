#include "analyzers/graph/loop_count.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analyzers/policy.h"

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

std::optional<RepeatCount> FindRepeatCount(std::span<const uint64_t> longer,
                                           std::span<const uint64_t> shorter) {
  struct Count {
    int64_t shorter = 0, longer = 0;
  };
  absl::flat_hash_map<uint64_t, Count> counts;
  for (const uint64_t kind : longer) ++counts[kind].longer;
  for (const uint64_t kind : shorter) ++counts[kind].shorter;
  int64_t extra = 0, lost = 0;
  struct Added {
    int64_t nodes = 0, kinds = 0;
  };
  std::map<std::pair<int64_t, int64_t>, Added> by_ratio;  // turns before, turns added
  for (const auto& [kind, count] : counts) {
    const int64_t added = count.longer - count.shorter;
    if (added <= 0) {
      lost -= added;
      continue;
    }
    extra += added;
    const int64_t divisor = std::gcd(count.shorter, added);
    Added& of_ratio = by_ratio[{count.shorter / divisor, added / divisor}];
    of_ratio.nodes += added, ++of_ratio.kinds;
  }
  if (extra < policy::kNodesOfTurns || 10 * lost > extra) return std::nullopt;
  const auto usual = std::ranges::max_element(
      by_ratio, {}, [](const auto& of_ratio) { return of_ratio.second.nodes; });
  const auto [turns, added_turns] = usual->first;
  if (turns == 0 || added_turns > policy::kAddedTurns ||
      usual->second.kinds < policy::kKindsOfTurns || 2 * usual->second.nodes < extra)
    return std::nullopt;
  // Kinds that the rest of the graph has, too, have a larger proportion.
  int64_t in_proportion = 0;
  for (const auto& [ratio, of_ratio] : by_ratio) {
    if (ratio.first * added_turns >= turns * ratio.second) in_proportion += of_ratio.nodes;
  }
  if (5 * in_proportion < (turns < 2 ? 4 : 3) * extra) return std::nullopt;
  return RepeatCount{.longer_turns = turns + added_turns,
                     .shorter_turns = turns,
                     .body_nodes = extra / added_turns};
}

std::string TurnsText(int64_t turns) {
  return turns == 1 ? "once" : fmt::format("{} times", turns);
}

}  // namespace xlaprof
