// Threads that share the loops of a kernel.
#pragma once

#include <absl/functional/function_ref.h>

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace xlaprof::lazy {

class ThreadPool {
 public:
  // Makes a pool; 0 means one thread per core. The threads that call it at the same time,
  // `callers`, count.
  explicit ThreadPool(int threads, int callers = 1);
  ~ThreadPool();

  // Returns how many threads a caller has while all callers are busy, rounded up.
  int threads() const { return (int(workers_.size()) + 2 * callers_ - 1) / callers_; }

  // Calls body(begin, end) for ranges that together are [0, count). Each range has at least `grain`
  // elements, and each but the last a multiple of it. If several threads call it at the same time,
  // they divide the pool's threads.
  using Body = absl::FunctionRef<void(int64_t begin, int64_t end)>;
  void For(int64_t count, int64_t grain, Body body) {
    if (workers_.empty() || count <= grain)
      body(0, count);
    else
      Share(count, grain, body);
  }

 private:
  struct Job;
  void Share(int64_t count, int64_t grain, Body body);
  void Work();

  // Returns the job with the fewest helpers that has pieces left, or null. Hold mutex_.
  Job* Open() const;

  const int callers_;
  std::mutex mutex_;  // guards the members below, except the workers
  std::condition_variable begun_, done_;
  std::vector<Job*> jobs_;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace xlaprof::lazy
