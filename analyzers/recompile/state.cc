#include "analyzers/recompile/state.h"

#include <algorithm>

#include "analyzers/policy.h"

namespace xlaprof {
RecompileState StateOf(std::span<const int64_t> compiles, int64_t first, int64_t last,
                       int64_t warm_up) {
  RecompileState state;
  const auto late = std::upper_bound(compiles.begin(), compiles.end(), warm_up - 1);
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
  if (n >= policy::kBurstCompiles &&
      span <= std::max<int64_t>(policy::kBurstSteps, seen / policy::kBurstPartOfRun) &&
      clean >= std::max<int64_t>(policy::kCleanStepsAfterBurst, span)) {
    state.word = State::kBurst;
    state.step = begin;
    return state;
  }
  const bool is_at_end = double(end - first) >= policy::kSettledBeforeShare * double(seen);
  if (!is_at_end) {
    state.word = State::kSettled;
    state.step = end;
    state.until_share = double(end - first) / double(seen);
  } else {
    // A single one at the end may be another phase, such as an evaluation.
    const auto in_last_half =
        std::count_if(late, compiles.end(), [&](int64_t at) { return 2 * (at - first) >= seen; });
    state.word = in_last_half >= policy::kNotOnce ? State::kOngoing : State::kUnknown;
  }
  return state;
}

}  // namespace xlaprof
