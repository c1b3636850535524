#include "core/trace/save.h"

#include "base/runtime_scopes.h"
#include "core/exec/call.h"
#include "core/ir/scope.h"
#include "core/observe/observer.h"
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

// The scope in which tensors are read and written to a file: in the timeline at the user's line,
// and in what is told of the reads.
class SaveScope {
 public:
  explicit SaveScope(const std::source_location& where)
      : observed_(site_, runtime_scopes::kSave, &where) {
    PushScope(runtime_scopes::kSave);
  }
  ~SaveScope() { PopScope(); }
  SaveScope(const SaveScope&) = delete;

 private:
  static inline observe::Site site_{Category::kScope, runtime_scopes::kSave};
  const observe::Scope observed_;
};

}  // namespace

void save(const State& state, const std::filesystem::path& path, Where where) {
  Call call(where);
  const SaveScope scope(Call::Where());
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
