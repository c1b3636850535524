// Finds when compiles happened: only at first, in a burst, all the time, or no longer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "profiler/store/vocabulary.h"

namespace xlaprof {

struct RecompileState {
  State word = State::kUnknown;
  std::optional<int64_t> step;  // first step of a burst; the last step that compiled when settled
  int64_t after_warm_up = 0;    // compiles on which the word is based
  double until_share = 1;       // when settled: the part of the run until the last compile, at most
};

// Returns when the compiles happened. `compiles` holds the step of each compile, ascending; steps
// count from 0 at the start of the process, and the first `warm_up` of them may compile in a clean
// program. [first, last] are the steps that were seen. If a compile in the last quarter is the only
// one in the second half, the state is kUnknown, because that is too little evidence.
RecompileState StateOf(std::span<const int64_t> compiles, int64_t first, int64_t last,
                       int64_t warm_up);

}  // namespace xlaprof
