// A device: a backend, the tensors that live on it, the programs that were compiled for it and the
// queue in which they run one after the other, on a thread of its own or one that waits for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "core/backend/backend.h"
#include "core/exec/compile_cache.h"
#include "core/exec/persistent_cache.h"
#include "core/exec/storage.h"

namespace xlaprof::lazy {

// Lives as long as the process.
class Device {
 public:
  // That of XLAPROF_DEVICE.
  static Device& Default();
  // The host itself, "cpu": where a model may be made before it is moved. Made when it is asked for
  // first; what is sent to it and read from it is no transfer.
  static Device& Host();
  // By its name, CPU:0. Raises an Error that says what there is and what to set.
  static Device& Named(std::string_view name);
  // The same; null where this process has none of that name.
  static Device* Find(std::string_view name);

  const std::string& name() const { return name_; }
  bool is_host() const { return name_ == kHostName; }
  Backend& backend() const { return *backend_; }
  LiveStorages& live() { return live_; }
  CompileCache& cache() { return cache_; }
  // Null: programs are not kept. Under cutting(), as the cache.
  PersistentCache* persistent_cache() { return persistent_cache_.get(); }
  void set_persistent_cache(std::unique_ptr<PersistentCache> cache) {
    persistent_cache_ = std::move(cache);
  }
  // Held while a graph is walked, compiled and sent off: one walk at a time.
  std::mutex& cutting() { return cutting_; }

  // Runs `task` after those before it, on the device's thread or one that waits for it. Waits while
  // many are queued; the time that it waited. `caller_waits`: the caller calls RunUntil at once, so
  // the thread need not be woken.
  int64_t Enqueue(std::function<void()> task, bool caller_waits = false);
  // Runs what is queued on the calling thread until `data` is there, or until another thread does:
  // to wake one and be woken by it takes longer than many programs.
  void RunUntil(const Data& data);
  // Until all that was enqueued before is done.
  void WaitForAll();

  // The seed that the next random operation takes, as a tensor; begins anew at each step mark from
  // a value that changes from step to step.
  NodePtr NextSeed(std::source_location where);
  void AdvanceSeed();
  void SetSeed(int64_t seed);

  Device(std::string name, std::unique_ptr<Backend> backend);

 private:
  static constexpr std::string_view kHostName = "cpu";
  void Run();
  void RunNext(std::unique_lock<std::mutex>& lock);

  const std::string name_;
  const std::unique_ptr<Backend> backend_;
  LiveStorages live_;
  CompileCache cache_;
  std::unique_ptr<PersistentCache> persistent_cache_;
  static inline std::mutex cutting_;  // of all devices: constants are nodes of any of them

  std::mutex seed_mutex_;
  int64_t step_seed_ = 101;
  NodePtr seed_;  // of the next random operation; null: none was in this step

  std::mutex mutex_;  // of what follows
  std::condition_variable came_, went_;
  std::deque<std::function<void()>> tasks_;
  int64_t enqueued_ = 0, done_ = 0;
  bool is_running_ = false;  // a task, on whatever thread
  std::thread thread_;
};

}  // namespace xlaprof::lazy
