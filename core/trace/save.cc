#include "core/trace/save.h"

#include "core/exec/call.h"
#include "core/trace/safetensors.h"
#include "core/trace/step.h"

namespace xlaprof::lazy {
namespace {

State Load(const std::filesystem::path& path, Device* to) {
  absl::StatusOr<SavedTensors> saved = ReadSafetensors(path);
  if (!saved.ok()) RaiseHere("{}", Message(saved.status()));
  State state;
  for (const auto& [name, tensor] : *saved) {
    Device* device = to;
    if (device == nullptr && !tensor.device.empty()) device = Device::Find(tensor.device);
    if (device == nullptr && !tensor.device.empty()) {
      RaiseHere(
          "{}: {} was saved from {}, which this process does not have: it has {}. Name one: "
          "load(path, device)",
          path.string(), name, tensor.device, Device::Names());
    }
    state[name] = Tensor::FromHost(tensor.values, device == nullptr ? Device::Default() : *device);
  }
  return state;
}

}  // namespace

void save(const State& state, const std::filesystem::path& path, Where where) {
  Call call(where);
  std::vector<Tensor> tensors;
  for (const auto& [name, tensor] : state) tensors.push_back(tensor);
  unlazy(tensors);
  SavedTensors saved;
  for (const auto& [name, tensor] : state)
    saved[name] = {.values = tensor.to_cpu(), .device = tensor.device().name()};
  if (absl::Status status = WriteSafetensors(path, saved); !status.ok())
    RaiseHere("{}", Message(status));
}

State load(const std::filesystem::path& path, Where where) {
  Call call(where);
  return Load(path, nullptr);
}

State load(const std::filesystem::path& path, Device& device, Where where) {
  Call call(where);
  return Load(path, &device);
}

}  // namespace xlaprof::lazy
