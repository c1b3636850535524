#include "core/exec/device.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/clock_ns.h"
#include "base/fork.h"
#include "core/environment.h"
#include "core/exec/at_exit.h"
#include "core/exec/listener.h"
#include "core/exec/transfer.h"
#include "core/ir/call_stack.h"
#include "core/ir/error.h"
#include "core/log.h"
#include "core/metrics/metrics.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {
namespace {

// The longest queue that a thread leaves behind. If tracing is faster than the device, a longer
// queue would fill the memory.
constexpr int64_t kMaxQueued = 4;

// When the program ends, says after so long which device it waits for.
constexpr std::chrono::seconds kLongAtExit{5};
// A lock that is held for so long belongs to the calling thread, which a signal interrupted, or to
// a thread that waits for it.
constexpr std::chrono::seconds kLockIsStuck{1};

// Locks the mutex, unless that would take for ever.
std::unique_lock<std::mutex> LockAtExit(std::mutex& mutex) {
  std::unique_lock lock(mutex, std::try_to_lock);
  const auto until = std::chrono::steady_clock::now() + kLockIsStuck;
  while (!lock && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)lock.try_lock();
  }
  return lock;
}

// Returns the threads of a device's kernels, so that all devices together use each core once.
int ThreadsOfOne() {
  const Environment& env = environment();
  if (env.devices == 1) return int(env.threads);
  const int64_t all = env.threads > 0 ? env.threads : int64_t(std::thread::hardware_concurrency());
  return int(std::max<int64_t>(1, all / env.devices));
}

std::unique_ptr<Backend> MakeBackend(std::string_view name, int index) {
  if (name == "native") return MakeNativeBackend(ThreadsOfOne());
  // Its clock begins now, so that its times fit those of the host if both are recorded.
  if (name == "null") return MakeNullBackend(ClockNs(CLOCK_MONOTONIC));
  if (name == "pjrt") {
    auto backend = MakePjrtBackend(environment().pjrt_plugin, index);
    if (!backend.ok())
      Raise("Missing XLA configuration: XLAPROF_DEVICE=pjrt{}: {}",
            index > 0
                ? fmt::format(", device {} of XLAPROF_DEVICES={}", index, environment().devices)
                : "",
            Message(backend.status()));
    return *std::move(backend);
  }
  Raise(
      "Missing XLA configuration: XLAPROF_DEVICE={} is not a backend. Set it to native, pjrt or "
      "null, or unset it to use native",
      name);
}

// Says whether Supported() is one device. That is chosen before it is made.
struct SpmdChoice {
  std::mutex mutex;
  bool is_chosen = false, is_made = false;
};
constinit SpmdChoice spmd_choice;

// The devices of this process, in the order in which they were made.
struct MadeDevices {
  std::mutex mutex;
  std::vector<Device*> devices;
};
MadeDevices& AllMade() {
  static MadeDevices& made = *new MadeDevices;
  return made;
}

}  // namespace

std::span<Device* const> Device::Supported() {
  static const std::vector<Device*>& devices = *[] {
    auto* made = new std::vector<Device*>;
    const int count = int(environment().devices);
    std::lock_guard lock(spmd_choice.mutex);
    spmd_choice.is_made = true;
    if (spmd_choice.is_chosen) {
      made->push_back(new Device(
          "SPMD:0", MakeSpmdBackend(MakeNativeBackends(count, int(environment().threads)))));
      return made;
    }
    for (int i = 0; i < count; ++i) {
      std::unique_ptr<Backend> backend = MakeBackend(environment().device, i);
      std::string name = fmt::format("{}:{}", backend->name(), i);
      Log(LogLevel::kInfo, "device {} uses the backend {}", name, environment().device);
      made->push_back(new Device(std::move(name), std::move(backend)));
    }
    return made;
  }();
  return devices;
}

absl::Status Device::UseSpmd() {
  std::lock_guard lock(spmd_choice.mutex);
  if (spmd_choice.is_chosen) return absl::OkStatus();
  if (spmd_choice.is_made)
    return absl::FailedPreconditionError(
        "use_spmd(): a device was used before. Call it first, before tensors and modules are made");
  if (environment().device != "native")
    return Unsupported(
        "use_spmd(): the backend {} does not divide tensors among devices. Set "
        "XLAPROF_DEVICE=native, or use run_ranks() or nn::DataParallel, whose ranks are threads",
        environment().device);
  spmd_choice.is_chosen = true;
  return absl::OkStatus();
}

Device& Device::Default() { return of_thread_ != nullptr ? *of_thread_ : *Supported().front(); }

Device& Device::Host() {
  static Device& device =
      *new Device(std::string(kHostName), MakeNativeBackend(int(environment().threads)));
  return device;
}

Device* Device::Find(std::string_view name) {
  if (name == kHostName) return &Host();
  Supported();  // makes them at the first use
  MadeDevices& made = AllMade();
  std::lock_guard lock(made.mutex);
  const auto found = std::ranges::find(made.devices, name, &Device::name);
  return found == made.devices.end() ? nullptr : *found;
}

std::vector<Device*> Device::Made() {
  const auto lock = LockAtExit(AllMade().mutex);
  return lock ? AllMade().devices : std::vector<Device*>();
}

std::string Device::Names() {
  std::vector<std::string> names{Supported().front()->name(), std::string(kHostName)};
  MadeDevices& made = AllMade();
  std::lock_guard lock(made.mutex);
  for (const Device* device : made.devices) {
    if (std::ranges::find(names, device->name()) == names.end()) names.push_back(device->name());
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

Device& Device::Named(std::string_view name) {
  if (Device* device = Find(name)) return *device;
  Raise(
      "device {} is not configured: this process has {}. XLAPROF_DEVICE chooses the backend: "
      "native, pjrt or null",
      name, Names());
}

Device::Device(std::string name, std::unique_ptr<Backend> backend)
    : name_(std::move(name)),
      backend_(std::move(backend)),
      cache_(environment().compilation_cache_size) {
  if (const Environment& env = environment(); !env.persistent_cache_path.empty())
    persistent_cache_ = std::make_unique<PersistentCache>(env.persistent_cache_path,
                                                          env.persistent_cache_read_only);
  WatchForks();
  if (environment().ir_debug || environment().hlo_debug) RecordCallStacks();
  thread_ = std::thread([this] { Run(); });
  pthread_setname_np(thread_.native_handle(), name_.c_str());
  {
    std::lock_guard lock(AllMade().mutex);
    AllMade().devices.push_back(this);
  }
  at_exit::FinishBeforeWhatExists();
}

void Device::Enqueue(std::function<void()> task, bool caller_waits) {
  at_exit::WatchMainThread();
  std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  ++enqueued_;
  if (!caller_waits) came_.notify_one();
}

int64_t Device::WaitForRoom() {
  std::unique_lock lock(mutex_);
  if (enqueued_ - done_ <= kMaxQueued) return 0;
  XLAPROF_OBSERVE(kExecute, "TensorCollectionBarrier");
  const int64_t begin_ns = ClockNs(CLOCK_MONOTONIC);
  came_.notify_one();
  went_.wait(lock, [&] { return enqueued_ - done_ <= kMaxQueued; });
  return ClockNs(CLOCK_MONOTONIC) - begin_ns;
}

void Device::RunUntil(const Data& data) {
  std::unique_lock lock(mutex_);
  while (!data.is_there() && !is_running_ && !tasks_.empty()) RunNext(lock);
}

absl::Status AwaitOnHost(const Data& data) {
  if (data.is_there()) return data.Wait();
  Device& device = data.device();
  const int64_t begin_ns = device.backend().NowNs();
  device.RunUntil(data);
  absl::Status status = data.Wait();
  Tell(&RuntimeListener::OnHostWait,
       observe::HostWait{data.run(), device.backend().NowNs() - begin_ns});
  return status;
}

void Device::WaitForAll() {
  std::unique_lock lock(mutex_);
  const int64_t until = enqueued_;
  while (done_ < until && !is_running_ && !tasks_.empty()) RunNext(lock);
  went_.wait(lock, [&] { return done_ >= until; });
}

void Device::Finish() {
  using Time = std::chrono::steady_clock;
  const auto say_at = Time::now() + kLongAtExit;
  bool is_said = false;
  // A signal's handler may have called exit() while this thread waited for a condition variable, on
  // which it cannot wait again. The device's thread may then be stuck with the lock.
  std::optional<int64_t> until;
  while (true) {
    {
      const auto lock = LockAtExit(mutex_);
      if (!lock) return;
      if (!until) {
        if (rank_ != nullptr) rank_->board().StopWaiting();
        until = enqueued_;
        came_.notify_one();
      }
      const int64_t left = *until - done_;
      if (left <= 0 || (is_running_ && runner_ == std::this_thread::get_id())) return;
      if (!is_said && Time::now() > say_at) {
        is_said = true;
        std::fprintf(stderr,
                     "xlaprof: the program has ended, and waits until "
                     "device %s has computed %lld %s that %s queued\n",
                     name_.c_str(), static_cast<long long>(left), left == 1 ? "graph" : "graphs",
                     left == 1 ? "is" : "are");
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void Device::EndThread() {
  {
    const auto lock = LockAtExit(mutex_);
    if (!lock || (is_running_ && runner_ == std::this_thread::get_id())) return;
    ends_ = true;
    came_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

// Runs one task. `lock` holds mutex_, and is released meanwhile.
void Device::RunNext(std::unique_lock<std::mutex>& lock) {
  is_running_ = true;
  runner_ = std::this_thread::get_id();
  std::function<void()> task = std::move(tasks_.front());
  tasks_.pop_front();
  lock.unlock();
  task();
  task = nullptr;  // frees what the task holds before anyone is notified
  lock.lock();
  is_running_ = false;
  ++done_;
  went_.notify_all();
  if (!tasks_.empty()) came_.notify_one();
}

void Device::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    came_.wait(lock, [&] { return !is_running_ && (ends_ || !tasks_.empty()); });
    if (tasks_.empty()) return;
    RunNext(lock);
  }
}

// Returns a new seed, which the graph derives from the previous one.
NodePtr Device::NextSeed(std::source_location where) {
  std::lock_guard lock(seed_mutex_);
  if (!seed_) seed_ = Node::OfData(Upload(*this, &step_seed_, {DType::kI64, {}}, where), where);
  const auto number = [&](int64_t n) { return Node::Constant(n, DType::kI64, where); };
  const NodePtr scaled = Node::Make(op::mul, {seed_.get(), number(214013).get()}, {}, where);
  return std::exchange(seed_,
                       Node::Make(op::add, {scaled.get(), number(2531011).get()}, {}, where));
}

void Device::AdvanceSeed() {
  std::lock_guard lock(seed_mutex_);
  step_seed_ = int64_t(uint64_t(1012031) + uint64_t(step_seed_) * 7012063);
  seed_ = nullptr;
}

void Device::SetSeed(int64_t seed) {
  std::lock_guard lock(seed_mutex_);
  step_seed_ = seed;
  seed_ = nullptr;
}

}  // namespace xlaprof::lazy
