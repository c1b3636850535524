#include "core/trace/loader.h"

#include <pthread.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fork.h"
#include "core/exec/call.h"
#include "core/exec/cut.h"
#include "core/exec/listener.h"
#include "core/observe/observer.h"
#include "core/trace/emit.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {

namespace {

Batch SendBatch(const HostBatch& host, Device& device, const std::vector<ShardingSpec>& sharding,
                Where where) {
  Batch batch;
  if (sharding.empty()) {
    for (const HostTensor& tensor : host) batch.push_back(Tensor::FromHost(tensor, device, where));
    return batch;
  }
  if (sharding.size() != host.size()) {
    RaiseHere("a loader has {} specs of input_sharding for batches of {} tensors", sharding.size(),
              host.size());
  }
  for (size_t i = 0; i < host.size(); ++i) {
    const Shape& shape = host[i].shape;
    const Sharding divided = internal::ShardingOf(
        fmt::format("tensor {} of a batch, {}", i, shape.ToText()), shape, sharding[i]);
    batch.push_back(Sent(host[i].bytes.data(), shape, device, divided));
  }
  return batch;
}

}  // namespace

// Holds what the callers and the loader's thread share.
struct ParallelLoader::Shared {
  void Run();
  // Reads a batch for each device. Returns fewer at the end.
  std::vector<HostBatch> ReadRound();
  bool has_room() const {
    return std::ranges::all_of(batches, [&](auto& queue) { return queue.size() < ahead; });
  }

  const ReadBatch read;
  const std::vector<Device*> devices;
  const std::vector<ShardingSpec> input_sharding;
  const size_t ahead;
  const Where where;
  std::mutex mutex;  // guards the members below, except the thread
  std::condition_variable changed;
  std::vector<std::deque<Batch>> batches;  // by device
  int64_t read_batches = 0, dropped = 0;
  std::exception_ptr error;
  bool at_end = false, stopping = false;
  bool is_end_told = false;
  std::thread thread;
};

ParallelLoader::ParallelLoader(ReadBatch read, std::vector<Device*> devices,
                               std::vector<ShardingSpec> input_sharding, size_t ahead,
                               Where where) {
  if (devices.empty()) {
    Call call(where);
    RaiseHere("ParallelLoader: there are no devices");
  }
  shared_.reset(new Shared{std::move(read), std::move(devices), std::move(input_sharding),
                           std::max<size_t>(1, ahead), where});
  shared_->batches.resize(shared_->devices.size());
  shared_->thread = std::thread(&Shared::Run, shared_.get());
}

ParallelLoader::~ParallelLoader() {
  if (shared_ == nullptr) return;
  if (is_forked) {
    // Only the parent has the thread, which would be waited for.
    (void)shared_.release();
    return;
  }
  {
    std::lock_guard lock(shared_->mutex);
    shared_->stopping = true;
    shared_->changed.notify_all();
  }
  shared_->thread.join();
}

std::vector<HostBatch> ParallelLoader::Shared::ReadRound() {
  std::vector<HostBatch> round;
  while (round.size() < devices.size()) {
    XLAPROF_OBSERVE(kInput, "cpu_loader.next");
    std::optional<HostBatch> host = read();
    if (!host) break;
    round.push_back(*std::move(host));
  }
  return round;
}

void ParallelLoader::Shared::Run() {
  pthread_setname_np(pthread_self(), "loader");
  Call call(where);
  std::unique_lock lock(mutex);
  while (!stopping && !at_end) {
    lock.unlock();
    std::vector<Batch> round;
    std::vector<HostBatch> hosts;
    std::exception_ptr raised;
    try {
      hosts = ReadRound();
      if (hosts.size() == devices.size()) {
        XLAPROF_OBSERVE(kTransfer, "cpu_data_to_xla_device");
        for (size_t i = 0; i < devices.size(); ++i)
          round.push_back(SendBatch(hosts[i], *devices[i], input_sharding, where));
      }
    } catch (...) {
      raised = std::current_exception();
    }
    lock.lock();
    at_end = round.empty();
    error = raised;
    read_batches += int64_t(hosts.size());
    if (at_end && !raised) dropped = int64_t(hosts.size());
    for (size_t i = 0; i < round.size(); ++i) batches[i].push_back(std::move(round[i]));
    changed.notify_all();
    changed.wait(lock, [&] { return stopping || at_end || has_room(); });
  }
}

int64_t ParallelLoader::dropped() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->dropped;
}

std::optional<Batch> ParallelLoader::next(Device& device, Where where) {
  const auto found = std::ranges::find(shared_->devices, &device);
  if (found == shared_->devices.end()) {
    Call call(where);
    RaiseHere("ParallelLoader: it does not load for {}", device.name());
  }
  std::deque<Batch>& batches = shared_->batches[size_t(found - shared_->devices.begin())];
  internal::EndStep(device, cause::kLoader, false, where);
  XLAPROF_OBSERVE(kInput, "get_batch_from_device_queue");
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait(lock, [&] { return !batches.empty() || shared_->at_end; });
  if (batches.empty()) {
    if (shared_->error) std::rethrow_exception(shared_->error);
    if (!std::exchange(shared_->is_end_told, true)) {
      const observe::LoaderEnd end{.devices = int64_t(shared_->devices.size()),
                                   .batches = shared_->read_batches,
                                   .dropped = shared_->dropped,
                                   .stack = {shared_->where}};
      lock.unlock();
      Tell(&RuntimeListener::OnLoaderEnd, end);
    }
    return std::nullopt;
  }
  Batch batch = std::move(batches.front());
  batches.pop_front();
  shared_->changed.notify_all();
  return batch;
}

}  // namespace xlaprof::lazy
