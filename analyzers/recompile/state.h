// When compiles came: only at first, in a burst, all the time, or no longer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "profiler/store/vocabulary.h"

namespace xlaprof {

// The steps in which a clean program compiles: the first, and the second, where state that the
// first one made (an optimizer's buffers, counters) has become an input. Measured on a clean MNIST
// training: 3 compiles, all in these two.
inline constexpr int64_t kWarmUpSteps = 2;

struct RecompileState {
  State word = State::kUnknown;
  std::optional<int64_t> step;  // first step of a burst; the last step that compiled when settled
  int64_t after_warm_up = 0;    // compiles that count for the word
};

// `compiles`: the step of each compile, ascending; steps count from 0 at the start of the process.
// [first, last]: the steps that were seen. A single compile in the last quarter is unknown: too
// little to tell.
RecompileState StateOf(std::span<const int64_t> compiles, int64_t first, int64_t last);

}  // namespace xlaprof
