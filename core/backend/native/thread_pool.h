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
  // Makes a pool; 0 means one thread per core. The calling thread counts as one.
  explicit ThreadPool(int threads);
  ~ThreadPool();

  int threads() const { return int(workers_.size()) + 1; }

  // Calls body(begin, end) for ranges that together are [0, count). Each range has at least `grain`
  // elements, and each but the last a multiple of it. While another thread uses the pool, the
  // calling thread does everything.
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

  std::mutex in_use_;
  std::mutex mutex_;
  std::condition_variable begun_, done_;
  Job* job_ = nullptr;
  uint64_t jobs_ = 0;  // number of jobs begun
  int busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace xlaprof::lazy
