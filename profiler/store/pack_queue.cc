#include "profiler/store/pack_queue.h"

namespace xlaprof {

PackQueue::~PackQueue() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void PackQueue::Submit() {
  Slot& slot = slots_[submitted_++ % kSlots];
  if (!thread_.joinable()) {
    if (slot.input.events.size() < kWorthThread) {
      packer_.Pack(slot.input, &slot.packed);
      packed_ = wanted_ = submitted_;
      return;
    }
    thread_ = std::thread([this] { Run(); });
  }
  std::lock_guard lock(mutex_);
  wanted_ = submitted_;
  changed_.notify_all();
}

const PackQueue::Slot& PackQueue::Oldest() {
  if (thread_.joinable()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return packed_ > taken_; });
  }
  return slots_[taken_ % kSlots];
}

void PackQueue::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || packed_ < wanted_; });
    if (stopping_) return;
    Slot& slot = slots_[packed_ % kSlots];
    lock.unlock();
    packer_.Pack(slot.input, &slot.packed);
    lock.lock();
    ++packed_;
    changed_.notify_all();
  }
}

}  // namespace xlaprof
