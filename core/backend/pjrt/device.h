// A device of a plugin, and the buffers on it.
#pragma once

#include <atomic>
#include <optional>

#include "core/backend/backend.h"
#include "core/backend/pjrt/client.h"

namespace xlaprof::lazy::pjrt {

// One device of a client. Any thread may use it.
class PluginDevice final : public RefCounted {
 public:
  // `index` is a place in client.devices().
  static Ref<PluginDevice> Make(Client& client, size_t index);

  Client& client() const { return client_; }
  const Api& api() const { return client_.api(); }
  PJRT_Device* get() const { return device_; }
  size_t index() const { return index_; }
  // Returns the options for programs of this many ranks: a single one is on this device, and several
  // are on the client's first devices. Returns an error if the client has fewer devices.
  absl::StatusOr<std::string> OptionsFor(int64_t ranks) const;

  // Return what the plugin tells, or what our buffers take if it tells nothing.
  int64_t bytes_in_use() const;
  int64_t peak_bytes_in_use() const;

  void Take(int64_t bytes);
  void GiveBack(int64_t bytes) { bytes_ -= bytes; }

 private:
  PluginDevice(Client& client, size_t index)
      : client_(client), index_(index), device_(client.devices()[index]) {}
  std::optional<PJRT_Device_MemoryStats_Args> Stats() const;

  Client& client_;
  const size_t index_;
  PJRT_Device* const device_;
  bool tells_memory_ = false;
  std::atomic<int64_t> bytes_{0}, most_bytes_{0};
};

class PluginBuffer final : public Buffer {
 public:
  // Takes ownership of `buffer`, which is on `device`.
  PluginBuffer(Shape shape, PJRT_Buffer* buffer, Ref<PluginDevice> device);
  ~PluginBuffer() override;
  PJRT_Buffer* get() const { return buffer_; }

 private:
  PJRT_Buffer* const buffer_;
  const Ref<PluginDevice> device_;
};

absl::StatusOr<Ref<Buffer>> CopyToDevice(const Ref<PluginDevice>& device, const void* host,
                                         Shape shape);
absl::Status CopyToHost(const PluginDevice& device, const PluginBuffer& buffer, void* host);

}  // namespace xlaprof::lazy::pjrt
