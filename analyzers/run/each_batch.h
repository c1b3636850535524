// Reads events batch by batch.
#pragma once

#include <utility>

#include "base/status.h"
#include "profiler/store/events.h"

namespace xlaprof {

// Calls fn(batch) for each batch of the scan, and returns the first error of either.
template <class Fn>
absl::Status EachBatch(const Store& store, EventScanner::Options options, Fn&& fn) {
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return absl::OkStatus();
    XP_TRY(fn(batch));
  }
}

}  // namespace xlaprof
