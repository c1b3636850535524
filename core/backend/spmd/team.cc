#include "core/backend/spmd/team.h"

#include <pthread.h>

namespace xlaprof::lazy {

Team::Team(const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    threads_.emplace_back([this, i] { Serve(int64_t(i)); });
    pthread_setname_np(threads_.back().native_handle(), names[i].c_str());
  }
}

Team::~Team() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::Run(Work work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  busy_ = threads_.size();
  ++runs_;
  begun_.notify_all();
  done_.wait(lock, [&] { return busy_ == 0; });
}

void Team::Serve(int64_t device) {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stop_ || runs_ != seen; });
    if (stop_) return;
    seen = runs_;
    const Work work = *work_;
    lock.unlock();
    work(device);
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

// The last device to come begins the next meeting.
absl::Status Encounter::WaitFor(std::unique_lock<std::mutex>& lock) {
  const uint64_t meeting = meetings_;
  if (++here_ == offers_.size()) {
    here_ = 0;
    ++meetings_;
    changed_.notify_all();
  }
  changed_.wait(lock, [&] { return meetings_ != meeting || !broken_.ok(); });
  return broken_;
}

absl::StatusOr<std::span<const std::span<const char>>> Encounter::Meet(int64_t device,
                                                                       std::span<const char> own) {
  std::unique_lock lock(mutex_);
  offers_[size_t(device)] = own;
  XP_TRY(WaitFor(lock));
  return std::span<const std::span<const char>>(offers_);
}

absl::Status Encounter::Wait() {
  std::unique_lock lock(mutex_);
  return WaitFor(lock);
}

void Encounter::Break(absl::Status why) {
  std::lock_guard lock(mutex_);
  if (broken_.ok()) broken_ = std::move(why);
  changed_.notify_all();
}

absl::Status Encounter::status() {
  std::lock_guard lock(mutex_);
  return broken_;
}

}  // namespace xlaprof::lazy
