// A device: a backend, the tensors on it, the programs compiled for it, and a queue. Queued
// programs run one after the other, on the device's own thread or on a thread that waits for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include "core/backend/backend.h"
#include "core/exec/persistent_cache.h"
#include "core/exec/program_cache.h"
#include "core/exec/rank.h"
#include "core/exec/storage.h"

namespace xlaprof::lazy {

// A device lives as long as the process.
class Device {
 public:
  // Returns the calling thread's device if it is a rank (launch.h, data_parallel.h), or else the
  // first of Supported().
  static Device& Default();
  // Returns the devices of the backend that XLAPROF_DEVICE names: CPU:0, CPU:1 and so on, as many
  // as XLAPROF_DEVICES says. They divide the cores among them.
  static std::span<Device* const> Supported();
  // Makes Supported() one device, SPMD:0, which consists of those devices. Returns an error if they
  // were made before, or if the backend cannot do that.
  static absl::Status UseSpmd();
  // Returns the host itself, "cpu", on which a model may be made before it is moved. It is made at
  // the first call. Copies to and from it are not counted as transfers.
  static Device& Host();
  // Returns the device of this name, such as CPU:0. If the program made several, returns the first.
  // If there is none, raises an Error that says which devices exist and what to set.
  static Device& Named(std::string_view name);
  // Does the same, but returns null if this process has no such device.
  static Device* Find(std::string_view name);
  // Returns all devices of this process, in the order in which they were made.
  static std::vector<Device*> Made();
  // Returns the names of the devices that Find() finds, for errors: CPU:0, cpu and CPU:1.
  static std::string Names();

  const std::string& name() const { return name_; }
  bool is_host() const { return name_ == kHostName; }
  // Returns whether it divides tensors among the devices of which it consists.
  bool is_spmd() const { return backend_->divides_tensors(); }
  Backend& backend() const { return *backend_; }
  LiveStorages& live() { return live_; }
  ProgramCache& cache() { return cache_; }
  // Returns the persistent cache, or null if programs are not kept. Hold a GraphLock, as for
  // cache().
  PersistentCache* persistent_cache() { return persistent_cache_.get(); }
  void set_persistent_cache(std::unique_ptr<PersistentCache> cache) {
    persistent_cache_ = std::move(cache);
  }

  // Returns the number of steps that it has ended, in its job if it is a rank.
  int64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  void CountStep() { steps_.fetch_add(1, std::memory_order_relaxed); }
  // The step that is running.
  struct Step {
    std::mutex mutex;                 // guards the members below
    std::optional<int64_t> begin_ns;  // when the previous step ended
    std::string name;                 // a StepTrace's name
    std::optional<int64_t> number;
  };
  Step& step() { return step_; }

  // The rank that the device is in a job, or null. Set it only while the device has nothing to do.
  Rank* rank() const { return rank_.get(); }
  void set_rank(std::shared_ptr<Rank> rank) {
    rank_ = std::move(rank);
    steps_ = 0;
  }
  // Makes this the calling thread's Default(), until it dies.
  class OfThread {
   public:
    explicit OfThread(Device& device) : before_(std::exchange(of_thread_, &device)) {}
    ~OfThread() { of_thread_ = before_; }
    OfThread(const OfThread&) = delete;

   private:
    Device* const before_;
  };

  // Queues `task`, which runs after the earlier ones, on the device's thread or on one that waits
  // for it. `caller_waits` means that the caller calls RunUntil at once, so that the thread need
  // not be woken. Otherwise call WaitForRoom() soon, without a GraphLock.
  void Enqueue(std::function<void()> task, bool caller_waits = false);
  // Waits while the queue is longer than it should be, and returns for how long.
  int64_t WaitForRoom();
  // Runs queued tasks on the calling thread until `data` exists, or until another thread runs them.
  // Waking another thread, and being woken by it, takes longer than many programs.
  void RunUntil(const Data& data);
  // Waits until everything enqueued before the call is done.
  void WaitForAll();
  // Does the same when the program ends, but runs nothing on the calling thread, whose thread_local
  // objects may be gone. Ranks of this process no longer wait for others, so their work ends soon.
  // Says what it waits for if that takes long. Returns soon if the work cannot be finished, because
  // a signal's handler called exit() inside of it.
  void Finish();
  // Ends the device's thread when nothing is queued, and waits for that. Nothing runs from then on.
  void EndThread();

  // Returns the seed of the next random operation, as a tensor. The sequence begins anew at each
  // step mark, from a value that differs per step.
  NodePtr NextSeed(std::source_location where);
  void AdvanceSeed();
  void SetSeed(int64_t seed);

  // Makes a device, which Find() finds from then on. Never destroy it.
  Device(std::string name, std::unique_ptr<Backend> backend);

 private:
  static constexpr std::string_view kHostName = "cpu";
  void Run();
  void RunNext(std::unique_lock<std::mutex>& lock);

  const std::string name_;
  const std::unique_ptr<Backend> backend_;
  LiveStorages live_;
  ProgramCache cache_;
  std::unique_ptr<PersistentCache> persistent_cache_;

  std::atomic<int64_t> steps_{0};
  Step step_;
  std::shared_ptr<Rank> rank_;
  static inline constinit thread_local Device* of_thread_ = nullptr;

  std::mutex seed_mutex_;
  int64_t step_seed_ = 101;
  NodePtr seed_;  // for the next random operation; null: this step had none

  std::mutex mutex_;  // guards the members below
  std::condition_variable came_, went_;
  std::deque<std::function<void()>> tasks_;
  int64_t enqueued_ = 0, done_ = 0;
  bool is_running_ = false;  // a task runs, on any thread
  std::thread::id runner_;   // that thread
  bool ends_ = false;        // the device's thread ends when nothing is queued
  std::thread thread_;
};

// Waits for the result of an execution. Does the device's work meanwhile if no other thread does,
// and reports how long it took.
absl::Status AwaitOnHost(const Data& data);

}  // namespace xlaprof::lazy
