#include "core/backend/native/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

namespace xlaprof::lazy {

struct ThreadPool::Job {
  Body body;
  int64_t count, chunk;
  std::atomic<int64_t> next{0};

  void Run() {
    for (int64_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < count;)
      body(begin, std::min(begin + chunk, count));
  }
};

ThreadPool::ThreadPool(int threads) {
  if (threads <= 0) threads = std::max(1, int(std::thread::hardware_concurrency()));
  for (int i = 1; i < threads; ++i) {
    workers_.emplace_back([this] { Work(); });
    pthread_setname_np(workers_.back().native_handle(), "xlaprof-kernel");
  }
}

ThreadPool::~ThreadPool() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  begun_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void ThreadPool::Share(int64_t count, int64_t grain, Body body) {
  std::unique_lock in_use(in_use_, std::try_to_lock);
  if (!in_use) return body(0, count);
  // Two pieces per thread: if the system suspends a thread for a while, the others wait less.
  const int64_t pieces = std::min<int64_t>((count + grain - 1) / grain, 2 * threads());
  const int64_t grains = (count + grain - 1) / grain;
  Job job{.body = body, .count = count, .chunk = (grains + pieces - 1) / pieces * grain};
  {
    std::lock_guard lock(mutex_);
    job_ = &job;
    ++jobs_;
  }
  if (pieces > 2)
    begun_.notify_all();
  else
    begun_.notify_one();
  job.Run();
  std::unique_lock lock(mutex_);
  job_ = nullptr;
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::Work() {
  uint64_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    begun_.wait(lock, [&] { return stop_ || (job_ != nullptr && jobs_ != seen); });
    if (stop_) return;
    seen = jobs_;
    ++busy_;
    Job* job = job_;
    lock.unlock();
    job->Run();
    lock.lock();
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace xlaprof::lazy
