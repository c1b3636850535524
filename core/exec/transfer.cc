#include "core/exec/transfer.h"

#include "base/metric_names.h"
#include "core/exec/announce.h"
#include "core/exec/call.h"
#include "core/exec/device.h"
#include "core/ir/error.h"
#include "core/metrics/metrics.h"
#include "core/observe/observer.h"

namespace xlaprof::lazy {
namespace {

using metrics::Arena;
using metrics::Metric;
using metrics::Unit;

// Announces a transfer. `begin_ns` is a time of the device's clock.
void Announce(bool to_device, Device& device, int64_t bytes, int64_t begin_ns,
              std::source_location where) {
  if (observe::Observer* observer = observe::Current()) {
    observer->OnTransfer({.to_device = to_device,
                          .bytes = bytes,
                          .ts_ns = begin_ns,
                          .dur_ns = device.backend().NowNs() - begin_ns,
                          .device = device.name(),
                          .scope = std::string(ScopeText(CurrentScope())),
                          .stack = StackAt(where)});
  }
}

Ref<Data> Put(Device& device, const void* host, Shape shape) {
  auto buffer = device.backend().ToDevice(host, shape);
  if (!buffer.ok())
    Raise("{} cannot take {}: {}", device.name(), shape.ToText(), Message(buffer.status()));
  Ref<Data> data = MakeRef<Data>(std::move(shape), device);
  data->Set(*std::move(buffer));
  return data;
}

absl::Status Fetch(const Data& data, void* host) {
  XP_TRY(AwaitOnHost(data));
  const Ref<Buffer> buffer = data.buffer();
  if (!buffer) return DataLoss("a value that was donated to a later step was read");
  return data.device().backend().ToHost(*buffer, host);
}

}  // namespace

Ref<Data> Upload(Device& device, const void* host, Shape shape, std::source_location where) {
  if (device.is_host()) return Put(device, host, std::move(shape));
  XLAPROF_OBSERVE(kTransfer, "TransferToDevice");
  static Metric& time =
      Metric::Of(metric_names::kTransferToDeviceTime, Unit::kTimeNs, Arena::kRuntime);
  static Metric& size = Metric::Of(metric_names::kOutboundData, Unit::kBytes, Arena::kRuntime);
  static metrics::Counter& handles =
      metrics::Counter::Of(metric_names::kCreateDataHandles, Arena::kRuntime);
  metrics::Timed timed(time);
  const int64_t begin_ns = device.backend().NowNs(), bytes = shape.bytes();
  Ref<Data> data = Put(device, host, std::move(shape));
  size.Add(double(bytes));
  handles.Add();
  Announce(true, device, bytes, begin_ns, where);
  return data;
}

absl::Status Download(const Data& data, void* host, std::source_location where) {
  Device& device = data.device();
  if (device.is_host()) return Fetch(data, host);
  XLAPROF_OBSERVE(kTransfer, "TransferFromDevice");
  static Metric& time =
      Metric::Of(metric_names::kTransferFromDeviceTime, Unit::kTimeNs, Arena::kRuntime);
  static Metric& size = Metric::Of(metric_names::kInboundData, Unit::kBytes, Arena::kRuntime);
  metrics::Timed timed(time);
  const int64_t begin_ns = device.backend().NowNs();
  XP_TRY(Fetch(data, host));
  size.Add(double(data.shape().bytes()));
  Announce(false, device, data.shape().bytes(), begin_ns, where);
  return absl::OkStatus();
}

}  // namespace xlaprof::lazy
