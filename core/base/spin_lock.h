// A lock for std::lock_guard that is held for some nanoseconds and mostly taken by one thread.
#pragma once

#include <atomic>
#include <thread>

namespace xlaprof {

class SpinLock {
 public:
  void lock() {
    while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { busy_.clear(std::memory_order_release); }

 private:
  std::atomic_flag busy_;
};

}  // namespace xlaprof
