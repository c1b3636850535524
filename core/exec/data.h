// A value on a device, there already or on its way.
#pragma once

#include <atomic>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

class Device;

// Any number of threads may wait; one sets it, once.
class Data final : public RefCounted {
 public:
  // `run`: the execution that makes it; 0: it is sent from the host.
  Data(Shape shape, Device& device, uint64_t run = 0)
      : shape_(std::move(shape)), device_(device), run_(run) {}

  const Shape& shape() const { return shape_; }
  Device& device() const { return device_; }
  uint64_t run() const { return run_; }

  bool is_there() const { return state_.load(std::memory_order_acquire) != kOnItsWay; }
  // Until it is there; the error of the execution that should have made it.
  absl::Status Wait() const {
    for (State state; (state = state_.load(std::memory_order_acquire)) == kOnItsWay;)
      state_.wait(state, std::memory_order_acquire);
    return error_;
  }
  // What is there, or null; not before Wait().
  const Ref<Buffer>& buffer() const { return buffer_; }

  void Set(Ref<Buffer> buffer) { Become(std::move(buffer), absl::OkStatus()); }
  void Fail(absl::Status error) { Become(nullptr, std::move(error)); }
  // Its memory becomes a result's: nobody reads this again.
  Ref<Buffer> Donate() { return std::move(buffer_); }
  // Whether it may: not where the runtime keeps it for others.
  bool may_be_donated() const { return !kept_; }
  void Keep() { kept_ = true; }

 private:
  enum State : uint32_t { kOnItsWay, kThere };
  void Become(Ref<Buffer> buffer, absl::Status error) {
    buffer_ = std::move(buffer);
    error_ = std::move(error);
    state_.store(kThere, std::memory_order_release);
    state_.notify_all();
  }

  const Shape shape_;
  Device& device_;
  const uint64_t run_;
  Ref<Buffer> buffer_;
  absl::Status error_;
  std::atomic<State> state_{kOnItsWay};
  bool kept_ = false;
};

}  // namespace xlaprof::lazy
