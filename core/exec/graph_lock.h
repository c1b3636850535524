// Lets one thread at a time change graphs. Any thread may record operations, cut graphs and read
// values, so a cut must not replace or donate a value that another thread is about to use.
#pragma once

#include "base/spin_lock.h"

namespace xlaprof::lazy {

// While it lives, no other thread reads or writes the value of a storage, of any device. A public
// operation holds it from its first look at its inputs until its result is a live storage. A cut
// holds it from its look at the live storages until they have their new values. A thread that
// waits for a device does not hold it, except in copies between devices inside of an operation.
// The holder may make another one. A device's work never needs it.
class GraphLock {
 public:
  GraphLock() {
    if (depth_++ == 0) lock_.lock();
  }
  ~GraphLock() {
    if (--depth_ == 0) lock_.unlock();
  }
  GraphLock(const GraphLock&) = delete;

  // Returns whether the calling thread holds it.
  static bool is_held() { return depth_ > 0; }

 private:
  static inline constinit thread_local int depth_ = 0;
  static inline constinit SpinLock lock_;
};

}  // namespace xlaprof::lazy
