#include "core/metrics/thread_cells.h"

#include <algorithm>
#include <bit>

namespace xlaprof::lazy::metrics {

// Returns this thread's cell. A thread that ends leaves its cell, with its content, to a later one.
size_t ThreadCells::OwnCell() {
  static constinit std::atomic<uint32_t> taken{0};
  struct AtEnd {
    ~AtEnd() {
      if (own_ < kShared) taken.fetch_and(~(1u << own_), std::memory_order_release);
      own_ = kShared;
    }
  };
  if (own_ == kShared) return kShared;
  uint32_t now = taken.load(std::memory_order_relaxed);
  size_t cell;
  do {
    cell = std::min<size_t>(size_t(std::countr_one(now)), kShared);
  } while (cell < kShared &&
           !taken.compare_exchange_weak(now, now | 1u << cell, std::memory_order_acquire));
  own_ = cell;
  thread_local const AtEnd at_end;
  return cell;
}

}  // namespace xlaprof::lazy::metrics
