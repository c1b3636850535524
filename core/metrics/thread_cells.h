// A sum that threads add to concurrently without waiting for each other: each thread has its own
// cell.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace xlaprof::lazy::metrics {

class ThreadCells {
 public:
  void Add(int64_t n) {
    const size_t own = own_ < kShared ? own_ : OwnCell();
    std::atomic<int64_t>& cell = cells_[own];
    if (own == kShared) {
      cell.fetch_add(n, std::memory_order_relaxed);
    } else {
      cell.store(cell.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    }
  }
  int64_t sum() const {
    int64_t sum = 0;
    for (const auto& cell : cells_) sum += cell.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  // Fifteen threads have their own cells. All others share the last one.
  static constexpr size_t kShared = 15, kNone = 16;
  static size_t OwnCell();
  static inline constinit thread_local size_t own_ = kNone;
  std::array<std::atomic<int64_t>, kShared + 1> cells_{};
};

}  // namespace xlaprof::lazy::metrics
