// Loads batches for a device, ahead of time and on its own thread, as MpDeviceLoader does. Asking
// for the next batch ends the step.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/trace/tensor.h"

namespace xlaprof::lazy {

class DeviceLoader {
 public:
  using HostBatch = std::vector<HostTensor>;
  using Batch = std::vector<Tensor>;

  // Starts the thread, which calls `read` until that returns an empty batch.
  explicit DeviceLoader(std::function<std::optional<HostBatch>()> read,
                        Device& device = Device::Default(), size_t ahead = 8,
                        Where where = Where::current());
  ~DeviceLoader();
  DeviceLoader(const DeviceLoader&) = delete;

  // Marks the step and waits for a batch, which is empty at the end. Raises what `read` raised.
  std::optional<Batch> next(Where where = Where::current());

 private:
  struct Shared;

  Device& device_;
  std::unique_ptr<Shared> shared_;  // with its thread
};

}  // namespace xlaprof::lazy
