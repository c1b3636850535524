#include "core/trace/loader.h"

#include <pthread.h>

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/fork.h"
#include "core/exec/call.h"
#include "core/exec/cut.h"
#include "core/observe/observer.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {

// Holds what the caller and the loader's thread share.
struct DeviceLoader::Shared {
  void Run();

  const std::function<std::optional<HostBatch>()> read;
  Device& device;
  const size_t ahead;
  const Where where;
  std::mutex mutex;  // guards the members below, except the thread
  std::condition_variable changed;
  std::deque<Batch> batches;
  std::exception_ptr error;
  bool at_end = false, stopping = false;
  std::thread thread;
};

DeviceLoader::DeviceLoader(std::function<std::optional<HostBatch>()> read, Device& device,
                           size_t ahead, Where where)
    : device_(device),
      shared_(new Shared{std::move(read), device, std::max<size_t>(1, ahead), where}) {
  shared_->thread = std::thread(&Shared::Run, shared_.get());
}

DeviceLoader::~DeviceLoader() {
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

void DeviceLoader::Shared::Run() {
  pthread_setname_np(pthread_self(), "loader");
  Call call(where);
  std::unique_lock lock(mutex);
  while (!stopping && !at_end) {
    lock.unlock();
    std::optional<Batch> batch;
    std::exception_ptr raised;
    try {
      std::optional<HostBatch> host;
      {
        XLAPROF_OBSERVE(kInput, "cpu_loader.next");
        host = read();
      }
      if (host) {
        XLAPROF_OBSERVE(kTransfer, "cpu_data_to_xla_device");
        batch.emplace();
        for (const HostTensor& tensor : *host)
          batch->push_back(Tensor::FromHost(tensor, device, where));
      }
    } catch (...) {
      raised = std::current_exception();
    }
    lock.lock();
    at_end = !batch;
    error = raised;
    if (batch) batches.push_back(*std::move(batch));
    changed.notify_all();
    changed.wait(lock, [&] { return stopping || at_end || batches.size() < ahead; });
  }
}

std::optional<DeviceLoader::Batch> DeviceLoader::next(Where where) {
  internal::EndStep(device_, cause::kLoader, false, where);
  XLAPROF_OBSERVE(kInput, "get_batch_from_device_queue");
  Shared& shared = *shared_;
  std::unique_lock lock(shared.mutex);
  shared.changed.wait(lock, [&] { return !shared.batches.empty() || shared.at_end; });
  if (shared.batches.empty()) {
    if (shared.error) std::rethrow_exception(std::exchange(shared.error, nullptr));
    return std::nullopt;
  }
  Batch batch = std::move(shared.batches.front());
  shared.batches.pop_front();
  shared.changed.notify_all();
  return batch;
}

}  // namespace xlaprof::lazy
