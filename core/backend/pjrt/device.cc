#include "core/backend/pjrt/device.h"

#include "base/fork.h"
#include "core/backend/pjrt/options.h"

namespace xlaprof::lazy::pjrt {
namespace {

PJRT_Buffer_Type ElementType(DType dtype) {
  switch (dtype) {
    case DType::kBool:
      return PJRT_Buffer_Type_PRED;
    case DType::kU8:
      return PJRT_Buffer_Type_U8;
    case DType::kI8:
      return PJRT_Buffer_Type_S8;
    case DType::kI16:
      return PJRT_Buffer_Type_S16;
    case DType::kI32:
      return PJRT_Buffer_Type_S32;
    case DType::kI64:
      return PJRT_Buffer_Type_S64;
    case DType::kBF16:
      return PJRT_Buffer_Type_BF16;
    case DType::kF16:
      return PJRT_Buffer_Type_F16;
    case DType::kF32:
      return PJRT_Buffer_Type_F32;
    case DType::kF64:
      break;
  }
  return PJRT_Buffer_Type_F64;
}

// Returns the address of the values if the host can read them there and a list can only be laid out
// in one way; otherwise null. XLA's copies on the CPU wake a thread, which takes ten times as long
// as the whole read of a number.
const void* ReadableValues(const Api& api, const PluginBuffer& buffer) {
  if (buffer.shape().rank() > 1) return nullptr;
  PJRT_Buffer_IsOnCpu_Args where{.struct_size = PJRT_Buffer_IsOnCpu_Args_STRUCT_SIZE,
                                 .buffer = buffer.get()};
  if (!api.ToStatus(api->PJRT_Buffer_IsOnCpu(&where), "buffer").ok() || !where.is_on_cpu)
    return nullptr;
  PJRT_Buffer_UnsafePointer_Args address{.struct_size = PJRT_Buffer_UnsafePointer_Args_STRUCT_SIZE,
                                         .buffer = buffer.get()};
  if (!api.ToStatus(api->PJRT_Buffer_UnsafePointer(&address), "buffer").ok()) return nullptr;
  return reinterpret_cast<const void*>(address.buffer_pointer);
}

}  // namespace

Ref<PluginDevice> PluginDevice::Make(Client& client, size_t index) {
  Ref<PluginDevice> device = Ref<PluginDevice>::First(new PluginDevice(client, index));
  device->tells_memory_ = device->Stats().has_value();
  return device;
}

absl::StatusOr<std::string> PluginDevice::OptionsFor(int64_t ranks) const {
  const auto all = client_.devices();
  if (size_t(ranks) > all.size())
    return Invalid("the plugin has {} devices, but the program is of {} ranks", all.size(), ranks);
  std::vector<int64_t> ids;
  for (PJRT_Device* device : all.subspan(ranks == 1 ? index_ : 0, size_t(ranks))) {
    PJRT_Device_GetDescription_Args description{
        .struct_size = PJRT_Device_GetDescription_Args_STRUCT_SIZE, .device = device};
    XP_TRY(api().ToStatus(api()->PJRT_Device_GetDescription(&description), "device description"));
    PJRT_DeviceDescription_Id_Args id{.struct_size = PJRT_DeviceDescription_Id_Args_STRUCT_SIZE,
                                      .device_description = description.device_description};
    XP_TRY(api().ToStatus(api()->PJRT_DeviceDescription_Id(&id), "device number"));
    ids.push_back(id.id);
  }
  return CompileOptions(ids, client_.platform());
}

std::optional<PJRT_Device_MemoryStats_Args> PluginDevice::Stats() const {
  PJRT_Device_MemoryStats_Args stats{.struct_size = PJRT_Device_MemoryStats_Args_STRUCT_SIZE,
                                     .device = device_};
  if (!api().ToStatus(api()->PJRT_Device_MemoryStats(&stats), "memory").ok()) return std::nullopt;
  return stats;
}

int64_t PluginDevice::bytes_in_use() const {
  if (tells_memory_) {
    if (const auto stats = Stats()) return stats->bytes_in_use;
  }
  return bytes_;
}

int64_t PluginDevice::peak_bytes_in_use() const {
  if (tells_memory_) {
    if (const auto stats = Stats(); stats && stats->peak_bytes_in_use_is_set)
      return stats->peak_bytes_in_use;
  }
  return most_bytes_;
}

void PluginDevice::Take(int64_t bytes) {
  const int64_t now = bytes_ += bytes;
  int64_t most = most_bytes_;
  while (now > most && !most_bytes_.compare_exchange_weak(most, now)) continue;
}

PluginBuffer::PluginBuffer(Shape shape, PJRT_Buffer* buffer, Ref<PluginDevice> device)
    : Buffer(std::move(shape)), buffer_(buffer), device_(std::move(device)) {
  device_->Take(this->shape().bytes());
}

PluginBuffer::~PluginBuffer() {
  device_->GiveBack(shape().bytes());
  if (is_forked) return;  // the plugin's locks may be held by threads that the fork does not have
  PJRT_Buffer_Destroy_Args args{.struct_size = PJRT_Buffer_Destroy_Args_STRUCT_SIZE,
                                .buffer = buffer_};
  device_->api().ToStatus(device_->api()->PJRT_Buffer_Destroy(&args), "buffer").IgnoreError();
}

absl::StatusOr<Ref<Buffer>> CopyToDevice(const Ref<PluginDevice>& device, const void* host,
                                         Shape shape) {
  const Api& api = device->api();
  PJRT_Client_BufferFromHostBuffer_Args args{
      .struct_size = PJRT_Client_BufferFromHostBuffer_Args_STRUCT_SIZE,
      .client = device->client().get(),
      .data = shape.bytes() > 0 ? host : &args,  // an empty tensor may have no address
      .type = ElementType(shape.dtype),
      .dims = shape.dims.data(),
      .num_dims = shape.dims.size(),
      // The caller may change the values as soon as this returns.
      .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableOnlyDuringCall,
      .device = device->get()};
  XP_TRY(api.ToStatus(api->PJRT_Client_BufferFromHostBuffer(&args), "transfer to the device"));
  Ref<Buffer> buffer = MakeRef<PluginBuffer>(std::move(shape), args.buffer, device);
  XP_TRY(api.Await(args.done_with_host_buffer, "transfer to the device"));
  // Waits, too, until the values are on the device, so that an error belongs to this transfer.
  PJRT_Buffer_ReadyEvent_Args ready{.struct_size = PJRT_Buffer_ReadyEvent_Args_STRUCT_SIZE,
                                    .buffer = args.buffer};
  XP_TRY(api.ToStatus(api->PJRT_Buffer_ReadyEvent(&ready), "transfer to the device"));
  XP_TRY(api.Await(ready.event, "transfer to the device"));
  return buffer;
}

absl::Status CopyToHost(const PluginDevice& device, const PluginBuffer& buffer, void* host) {
  const Shape& shape = buffer.shape();
  if (shape.bytes() == 0) return absl::OkStatus();
  if (const void* values = ReadableValues(device.api(), buffer)) {
    std::memcpy(host, values, size_t(shape.bytes()));
    return absl::OkStatus();
  }
  // The device may have another layout.
  Dims minor_to_major;
  for (int64_t dim = shape.rank() - 1; dim >= 0; --dim) minor_to_major.push_back(dim);
  PJRT_Buffer_MemoryLayout layout{.struct_size = PJRT_Buffer_MemoryLayout_STRUCT_SIZE};
  layout.type = PJRT_Buffer_MemoryLayout_Type_Tiled;
  layout.tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_STRUCT_SIZE,
                  .minor_to_major = minor_to_major.data(),
                  .minor_to_major_size = minor_to_major.size()};
  PJRT_Buffer_ToHostBuffer_Args args{.struct_size = PJRT_Buffer_ToHostBuffer_Args_STRUCT_SIZE,
                                     .src = buffer.get(),
                                     .host_layout = &layout,
                                     .dst = host,
                                     .dst_size = size_t(shape.bytes())};
  const Api& api = device.api();
  XP_TRY(api.ToStatus(api->PJRT_Buffer_ToHostBuffer(&args), "transfer from the device"));
  return api.Await(args.event, "transfer from the device");
}

}  // namespace xlaprof::lazy::pjrt
