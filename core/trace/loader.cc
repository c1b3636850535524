#include "core/trace/loader.h"

#include <pthread.h>

#include "core/exec/call.h"
#include "core/exec/cut.h"
#include "core/exec/fork.h"
#include "core/observe/observer.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {

DeviceLoader::DeviceLoader(std::function<std::optional<HostBatch>()> read, Device& device,
                           size_t ahead, Where where)
    : read_(std::move(read)), device_(device), ahead_(std::max<size_t>(1, ahead)), where_(where) {
  thread_ = std::thread([this] { Run(); });
}

DeviceLoader::~DeviceLoader() {
  if (is_forked) {
    // Only the parent has the thread, so its handle can neither be joined nor detached here.
    new std::thread(std::move(thread_));
    return;
  }
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

void DeviceLoader::Run() {
  pthread_setname_np(pthread_self(), "loader");
  Call call(where_);
  std::unique_lock lock(mutex_);
  while (!stopping_ && !at_end_) {
    lock.unlock();
    std::optional<Batch> batch;
    std::exception_ptr error;
    try {
      std::optional<HostBatch> host;
      {
        XLAPROF_OBSERVE(kInput, "cpu_loader.next");
        host = read_();
      }
      if (host) {
        XLAPROF_OBSERVE(kTransfer, "cpu_data_to_xla_device");
        batch.emplace();
        for (const HostTensor& tensor : *host)
          batch->push_back(Tensor::FromHost(tensor, device_, where_));
      }
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    at_end_ = !batch;
    error_ = error;
    if (batch) batches_.push_back(*std::move(batch));
    changed_.notify_all();
    changed_.wait(lock, [&] { return stopping_ || at_end_ || batches_.size() < ahead_; });
  }
}

std::optional<DeviceLoader::Batch> DeviceLoader::next(Where where) {
  internal::EndStep(device_, cause::kLoader, false, where);
  XLAPROF_OBSERVE(kInput, "get_batch_from_device_queue");
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !batches_.empty() || at_end_; });
  if (batches_.empty()) {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return std::nullopt;
  }
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  changed_.notify_all();
  return batch;
}

}  // namespace xlaprof::lazy
