// Reads events batch by batch.
#pragma once

#include <type_traits>
#include <utility>

#include "base/status.h"
#include "profiler/store/events.h"

namespace xlaprof {

// Calls fn(batch) for each batch of the scan, and returns the first error of either. `fn` returns a
// status or nothing.
template <class Fn>
absl::Status EachBatch(const Store& store, EventScanner::Options options, Fn&& fn) {
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return absl::OkStatus();
    if constexpr (std::is_void_v<decltype(fn(batch))>) {
      fn(batch);
    } else {
      XP_TRY(fn(batch));
    }
  }
}

// Calls fn(batch, i) for each event of the scan.
template <class Fn>
absl::Status EachEvent(const Store& store, EventScanner::Options options, Fn&& fn) {
  return EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) fn(batch, i);
  });
}

}  // namespace xlaprof
