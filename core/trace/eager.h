// Runs each operation at once.
#pragma once

#include <utility>

namespace xlaprof::lazy {

// While it lives and `on` is true, each operation of the calling thread is executed before the call
// returns, as in PyTorch without XLA. Each operation is a program of its own.
class EagerMode {
 public:
  explicit EagerMode(bool on = true) : before_(std::exchange(on_, on)) {}
  ~EagerMode() { on_ = before_; }
  EagerMode(const EagerMode&) = delete;
  static bool is_on() { return on_; }

 private:
  static inline constinit thread_local bool on_ = false;
  const bool before_;
};

}  // namespace xlaprof::lazy
