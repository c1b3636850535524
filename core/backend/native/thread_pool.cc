#include "core/backend/native/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

namespace xlaprof::lazy {

struct ThreadPool::Job {
  Body body;
  int64_t count, chunk;
  std::atomic<int64_t> next{0};
  int helpers = 0;  // workers that run it now; guarded by the pool's mutex

  void Run() {
    for (int64_t begin; (begin = next.fetch_add(chunk, std::memory_order_relaxed)) < count;)
      body(begin, std::min(begin + chunk, count));
  }
};

ThreadPool::ThreadPool(int threads, int callers) : callers_(callers) {
  if (threads <= 0) threads = std::max(1, int(std::thread::hardware_concurrency()));
  for (int i = callers; i < threads; ++i) {
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

ThreadPool::Job* ThreadPool::Open() const {
  Job* open = nullptr;
  for (Job* job : jobs_) {
    if (job->next.load(std::memory_order_relaxed) >= job->count) continue;
    if (open == nullptr || job->helpers < open->helpers) open = job;
  }
  return open;
}

void ThreadPool::Share(int64_t count, int64_t grain, Body body) {
  // Two pieces per thread: if the system suspends a thread for a while, the others wait less.
  const int64_t threads = int64_t(workers_.size()) + 1;
  const int64_t pieces = std::min<int64_t>((count + grain - 1) / grain, 2 * threads);
  const int64_t grains = (count + grain - 1) / grain;
  Job job{.body = body, .count = count, .chunk = (grains + pieces - 1) / pieces * grain};
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
  }
  if (pieces > 2)
    begun_.notify_all();
  else
    begun_.notify_one();
  job.Run();
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &job);
  done_.wait(lock, [&] { return job.helpers == 0; });
}

void ThreadPool::Work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Job* job = nullptr;
    begun_.wait(lock, [&] { return stop_ || (job = Open()) != nullptr; });
    if (stop_) return;
    ++job->helpers;
    lock.unlock();
    job->Run();
    lock.lock();
    if (--job->helpers == 0) done_.notify_all();
  }
}

}  // namespace xlaprof::lazy
