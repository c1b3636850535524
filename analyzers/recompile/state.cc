#include "analyzers/recompile/state.h"

#include <algorithm>

namespace xlaprof {
namespace {

constexpr int64_t kBurstCompiles = 3;  // fewer are no burst: two changes of shape happen in any run
constexpr int64_t kFewSteps = 5;  // a burst is shorter than this, or than a twentieth of a long run
constexpr int64_t kBurstShare = 20;
constexpr int64_t kCleanSteps =
    3;  // a burst is over when at least so many steps, and as many as it took, are clean

}  // namespace

RecompileState StateOf(std::span<const int64_t> compiles, int64_t first, int64_t last) {
  RecompileState state;
  const auto late = std::upper_bound(compiles.begin(), compiles.end(), kWarmUpSteps - 1);
  const auto n = compiles.end() - late;
  state.after_warm_up = n;
  if (compiles.empty() || last < first) {
    state.word = State::kUnknown;
    return state;
  }
  if (n == 0) {
    state.word = State::kWarmUp;
    return state;
  }
  const int64_t seen = last - first + 1, begin = *late, end = compiles.back();
  const int64_t span = end - begin + 1, clean = last - end;
  if (n >= kBurstCompiles && span <= std::max(kFewSteps, seen / kBurstShare) &&
      clean >= std::max(kCleanSteps, span)) {
    state.word = State::kBurst;
    state.step = begin;
    return state;
  }
  const bool in_last_quarter = 4 * (end - first) >= 3 * seen;
  if (!in_last_quarter) {
    state.word = State::kSettled;
    state.step = end;
  } else {
    state.word = n >= 2 ? State::kOngoing : State::kUnknown;
  }
  return state;
}

}  // namespace xlaprof
