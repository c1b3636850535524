#include "core/exec/transfer.h"

#include "core/exec/device.h"
#include "core/exec/handles.h"
#include "core/exec/listener.h"
#include "core/ir/error.h"

namespace xlaprof::lazy {
namespace {

Ref<Data> Put(Device& device, const void* host, Shape shape, const Sharding& sharding) {
  Backend& backend = device.backend();
  auto buffer = sharding.is_whole() ? backend.ToDevice(host, shape)
                                    : backend.ToDevices(host, shape, sharding);
  if (!buffer.ok())
    Raise("{} cannot take {}: {}", device.name(), shape.ToText(), Message(buffer.status()));
  Ref<Data> data = MakeRef<Data>(std::move(shape), device, /*run=*/0,
                                 sharding.Simplified().ToAttributes());
  SetAndCount(*data, *std::move(buffer));
  return data;
}

absl::StatusOr<std::vector<std::byte>> Fetch(const Data& data) {
  XP_TRY(AwaitOnHost(data));
  const Ref<Buffer> buffer = data.buffer();
  if (!buffer) return DataLoss("a value that was donated to a later step was read");
  std::vector<std::byte> host;
  try {
    host.resize(size_t(data.shape().bytes()));
  } catch (const std::exception&) {  // bad_alloc, or length_error
    return absl::ResourceExhaustedError(fmt::format("the host has no memory for the {} bytes of {}",
                                                    data.shape().bytes(), data.shape().ToText()));
  }
  XP_TRY(data.device().backend().ToHost(*buffer, host.data()));
  return host;
}

}  // namespace

Ref<Data> Upload(Device& device, const void* host, Shape shape, std::source_location where,
                 const Sharding& sharding) {
  if (device.is_host()) return Put(device, host, std::move(shape), sharding);
  XLAPROF_OBSERVE(kTransfer, "TransferToDevice");
  const int64_t begin_ns = device.backend().NowNs(), bytes = shape.bytes();
  Ref<Data> data = Put(device, host, std::move(shape), sharding);
  Tell(&RuntimeListener::OnTransfer,
       Transferred{true, device, bytes, begin_ns, device.backend().NowNs(), where});
  return data;
}

absl::StatusOr<std::vector<std::byte>> Download(const Data& data, std::source_location where) {
  Device& device = data.device();
  if (device.is_host()) return Fetch(data);
  XLAPROF_OBSERVE(kTransfer, "TransferFromDevice");
  const int64_t begin_ns = device.backend().NowNs();
  XP_TRY(std::vector<std::byte> host, Fetch(data));
  Tell(&RuntimeListener::OnTransfer, Transferred{false, device, data.shape().bytes(), begin_ns,
                                                 device.backend().NowNs(), where});
  return host;
}

}  // namespace xlaprof::lazy
