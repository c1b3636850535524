// Threads that share the loops of one kernel.
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
  // 0: one a core. The thread that calls counts as one.
  explicit ThreadPool(int threads);
  ~ThreadPool();

  int threads() const { return int(workers_.size()) + 1; }

  // Calls body(begin, end) for ranges that together are [0, count): as many as threads where there
  // is work for them, of at least `grain`, each but the last a multiple of it. While another thread
  // uses the pool all is done on the calling one.
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
  uint64_t jobs_ = 0;  // begun so far
  int busy_ = 0;
  bool stop_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace xlaprof::lazy
