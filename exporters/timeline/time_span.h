// When a store's timeline begins and ends.
#pragma once

#include <algorithm>

#include "profiler/store/store.h"

namespace xlaprof {

struct TimeSpan {
  OptInt first_ns, last_ns;  // in the store's times; of events, counters and steps; nothing: none
  OptInt base_epoch_ns;      // Unix time of the store's 0; nothing where no source knows it

  // Unix time of the store's `origin_ns`, if it is known and can be said.
  OptInt EpochOf(int64_t origin_ns) const {
    int64_t epoch_ns = 0;
    if (!base_epoch_ns || __builtin_add_overflow(*base_epoch_ns, origin_ns, &epoch_ns)) return {};
    return epoch_ns;
  }
  // Where what `slice` shows begins; a window in which nothing lies is nowhere.
  int64_t BeginOf(const Slice& slice) const {
    const int64_t first = first_ns.value_or(0), from = slice.from_ns.value_or(first);
    return from > slice.to_ns.value_or(INT64_MAX) ? first : std::max(first, from);
  }
};

// Of the whole store, whatever its slice.
absl::StatusOr<TimeSpan> TimeSpanOf(const Store& store);

}  // namespace xlaprof
