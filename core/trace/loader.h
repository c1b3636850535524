// Load batches for devices, ahead of time and on a thread of their own, as torch_xla's
// ParallelLoader and MpDeviceLoader do. Asking for the next batch ends the step.
#pragma once

#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include "core/trace/spmd.h"
#include "core/trace/tensor.h"

namespace xlaprof::lazy {

using HostBatch = std::vector<HostTensor>;
using Batch = std::vector<Tensor>;
// Returns the next batch, or nothing at the end.
using ReadBatch = std::function<std::optional<HostBatch>()>;

// Goes once through the batches that a loader still has. In `for (Batch& batch : loader)`, a batch
// is gone when the next step begins.
template <class Loader>
class BatchIterator {
 public:
  BatchIterator(Loader& loader, Where where) : loader_(loader), where_(where) { ++*this; }
  Batch& operator*() { return *batch_; }
  BatchIterator& operator++() {
    batch_.reset();  // otherwise the step mark would keep its tensors
    batch_ = loader_.next(where_);
    return *this;
  }
  bool operator==(std::default_sentinel_t) const { return !batch_; }

 private:
  Loader& loader_;
  const Where where_;
  std::optional<Batch> batch_;
};

// Deals batches to devices: the first to the first device, and so on. All devices get the same
// number. If the last batches do not suffice for all devices, they are dropped. When a device asks
// in vain, the end is announced, and what was dropped is counted (ParallelLoaderDroppedBatches).
class ParallelLoader {
 public:
  // Starts the thread, which calls `read` until that returns nothing. For each device, it loads up
  // to `ahead` batches that nobody has asked for yet.
  explicit ParallelLoader(ReadBatch read, std::vector<Device*> devices, size_t ahead = 8,
                          Where where = Where::current())
      : ParallelLoader(std::move(read), std::move(devices), {}, ahead, where) {}
  // `input_sharding` has a spec for each tensor of a batch, or is empty. The tensors arrive so
  // divided on a device that use_spmd() made.
  ParallelLoader(ReadBatch read, std::vector<Device*> devices,
                 std::vector<ShardingSpec> input_sharding, size_t ahead, Where where);
  ~ParallelLoader();
  ParallelLoader(const ParallelLoader&) = delete;

  // Marks the step of one of the devices and waits for its batch. Returns nothing at the end.
  // Raises what `read` raised. The threads of several devices may call it at the same time.
  std::optional<Batch> next(Device& device, Where where = Where::current());
  // Returns how many batches were dropped. Call it after the end.
  int64_t dropped() const;

 private:
  struct Shared;

  std::unique_ptr<Shared> shared_;  // with its thread
};

// A ParallelLoader's batches for one device, which it must outlive.
class PerDeviceLoader {
 public:
  PerDeviceLoader(ParallelLoader& loader, Device& device) : loader_(loader), device_(device) {}
  std::optional<Batch> next(Where where = Where::current()) { return loader_.next(device_, where); }
  BatchIterator<PerDeviceLoader> begin(Where where = Where::current()) { return {*this, where}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  ParallelLoader& loader_;
  Device& device_;
};

// Loads batches for one device.
class DeviceLoader {
 public:
  using HostBatch = lazy::HostBatch;
  using Batch = lazy::Batch;

  explicit DeviceLoader(ReadBatch read, Device& device = Device::Default(), size_t ahead = 8,
                        Where where = Where::current())
      : loader_(std::move(read), {&device}, ahead, where), device_(device) {}
  DeviceLoader(ReadBatch read, std::vector<ShardingSpec> input_sharding,
               Device& device = Device::Default(), size_t ahead = 8, Where where = Where::current())
      : loader_(std::move(read), {&device}, std::move(input_sharding), ahead, where),
        device_(device) {}
  std::optional<Batch> next(Where where = Where::current()) { return loader_.next(device_, where); }
  BatchIterator<DeviceLoader> begin(Where where = Where::current()) { return {*this, where}; }
  std::default_sentinel_t end() const { return {}; }

 private:
  ParallelLoader loader_;
  Device& device_;
};

}  // namespace xlaprof::lazy
