// A value on a device that exists already or is on its way.
#pragma once

#include <atomic>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

class Device;

// Any number of threads may wait. One thread sets the value, once.
class Data final : public RefCounted {
 public:
  // `run` is the execution that computes the value, or 0 if it comes from the host. `sharding` are
  // the attributes of the value's sharding, if the device divides it.
  Data(Shape shape, Device& device, uint64_t run = 0, const Attributes& sharding = {})
      : shape_(std::move(shape)), device_(device), run_(run), sharding_(sharding) {}
  ~Data() override {
    if (gone_ != nullptr) gone_();
  }

  const Shape& shape() const { return shape_; }
  Device& device() const { return device_; }
  uint64_t run() const { return run_; }
  const Attributes& sharding() const { return sharding_; }

  bool is_there() const { return state_.load(std::memory_order_acquire) != kOnItsWay; }
  // Waits for the value. Returns the error of the execution that should have computed it.
  absl::Status Wait() const {
    for (State state; (state = state_.load(std::memory_order_acquire)) == kOnItsWay;)
      state_.wait(state, std::memory_order_acquire);
    return error_;
  }
  // Returns the value's buffer, or null. Call Wait() first.
  const Ref<Buffer>& buffer() const { return buffer_; }

  void Set(Ref<Buffer> buffer) { Become(std::move(buffer), absl::OkStatus()); }
  void Fail(absl::Status error) { Become(nullptr, std::move(error)); }
  // Gives the memory to a result. Nobody may read this value again.
  Ref<Buffer> Donate() { return std::move(buffer_); }
  // Returns whether the memory may be donated. It may not if the runtime keeps the value for
  // others.
  bool may_be_donated() const { return !kept_; }
  void Keep() { kept_ = true; }
  // Calls `gone` when this is destroyed.
  void WhenGone(void (*gone)()) { gone_ = gone; }

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
  const Attributes sharding_;
  Ref<Buffer> buffer_;
  absl::Status error_;
  std::atomic<State> state_{kOnItsWay};
  bool kept_ = false;
  void (*gone_)() = nullptr;
};

}  // namespace xlaprof::lazy
