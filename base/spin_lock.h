// A lock for std::lock_guard that is mostly held for some nanoseconds and mostly taken by one thread.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace xlaprof {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; busy_.test_and_set(std::memory_order_acquire); ++tries) {
      if (tries < kTriesAwake) {
        std::this_thread::yield();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      }
    }
  }
  void unlock() { busy_.clear(std::memory_order_release); }

 private:
  // A thread that did not get the lock in so many tries sleeps between the next ones.
  static constexpr int kTriesAwake = 1000;
  std::atomic_flag busy_;
};

}  // namespace xlaprof
