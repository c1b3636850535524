// Finds when a store's timeline begins and ends.
#pragma once

#include <algorithm>

#include "profiler/store/store.h"

namespace xlaprof {

struct TimeSpan {
  OptInt first_ns, last_ns;  // first and last event, counter or step, in the store's time
  OptInt base_epoch_ns;      // Unix time of the store's 0, if a source knows it

  // Returns the Unix time of the store's `origin_ns`, if it is known and does not overflow.
  OptInt EpochOf(int64_t origin_ns) const {
    int64_t epoch_ns = 0;
    if (!base_epoch_ns || __builtin_add_overflow(*base_epoch_ns, origin_ns, &epoch_ns)) return {};
    return epoch_ns;
  }
  // Returns where the part that `slice` shows begins. If the slice ends before that, returns where
  // the store's events begin.
  int64_t BeginOf(const Slice& slice) const {
    const int64_t first = first_ns.value_or(0), from = slice.from_ns.value_or(first);
    return from > slice.to_ns.value_or(INT64_MAX) ? first : std::max(first, from);
  }
};

// Returns the span of the whole store, whatever part is chosen.
absl::StatusOr<TimeSpan> TimeSpanOf(const Store& store);

}  // namespace xlaprof
