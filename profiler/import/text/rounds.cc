#include "profiler/import/text/rounds.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

namespace xlaprof {
namespace {

constexpr size_t kLeastRounds = 3;
constexpr size_t kMostLengths = 4;  // lengths of a round that are tried

// Returns the longest stretch of the sequence in which each number equals the one `length` before.
Round LongestStretch(const std::vector<int64_t>& sequence, size_t length) {
  Round best;
  size_t begin = 0;
  for (size_t i = length; i <= sequence.size(); ++i) {
    if (i < sequence.size() && sequence[i] == sequence[i - length]) continue;
    if (i - begin > best.end - best.begin) best = {begin, i};
    begin = i - length + 1;
  }
  return best;
}

// Returns the distances between the places, the most frequent first.
std::vector<size_t> UsualDistances(const std::vector<size_t>& places) {
  std::map<size_t, int64_t> count;
  for (size_t i = 1; i < places.size(); ++i) ++count[places[i] - places[i - 1]];
  std::vector<size_t> distances;
  for (const auto& [distance, times] : count) distances.push_back(distance);
  std::ranges::stable_sort(distances, std::greater(), [&](size_t of) { return count[of]; });
  if (distances.size() > kMostLengths) distances.resize(kMostLengths);
  return distances;
}

}  // namespace

std::vector<Round> RoundsOf(const std::vector<std::string_view>& names) {
  absl::flat_hash_map<std::string_view, std::vector<size_t>> places;
  absl::flat_hash_map<std::string_view, int64_t> numbers;
  std::vector<int64_t> sequence;
  for (size_t i = 0; i < names.size(); ++i) {
    sequence.push_back(numbers.try_emplace(names[i], int64_t(numbers.size())).first->second);
    places[names[i]].push_back(i);
  }
  // The rarest of the names that come in several rounds comes least often in each of them.
  const std::vector<size_t>* rarest = nullptr;
  for (const auto& [name, of_name] : places) {
    if (of_name.size() < kLeastRounds) continue;
    const auto rank = [](const std::vector<size_t>& at) {
      return std::pair(at.size(), at.front());
    };
    if (rarest == nullptr || rank(of_name) < rank(*rarest)) rarest = &of_name;
  }
  if (rarest == nullptr) return {};
  for (const size_t length : UsualDistances(*rarest)) {
    const Round stretch = LongestStretch(sequence, length);
    const size_t size = stretch.end - stretch.begin;
    if (size < kLeastRounds * length || 2 * size < names.size()) continue;
    std::vector<Round> rounds;
    if (stretch.begin > 0) rounds.push_back({0, stretch.begin});
    for (size_t at = stretch.begin; at + length <= stretch.end; at += length)
      rounds.push_back({at, at + length});
    return rounds;
  }
  return {};
}

}  // namespace xlaprof
