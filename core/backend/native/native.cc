#include <atomic>
#include <cstring>

#include "base/clock_ns.h"
#include "core/backend/kept_as_text.h"
#include "core/backend/native/executable.h"

namespace xlaprof::lazy {
namespace {

// oneDNN's kernels cannot be serialized.
class NativeBackend final : public KeptAsText {
 public:
  explicit NativeBackend(std::shared_ptr<ThreadPool> pool)
      : memory_(MakeRef<DeviceMemory>()), pool_(std::move(pool)) {}

  std::string_view name() const override { return "CPU"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    return NativeExecutable::Make(program, memory_, pool_);
  }
  absl::StatusOr<std::unique_ptr<Executable>> Share(const Executable& executable) override {
    const auto* native = dynamic_cast<const NativeExecutable*>(&executable);
    if (native == nullptr || native->pool() != pool_.get())
      return Unsupported("{}: the program belongs to a backend of another kind", name());
    return std::unique_ptr<Executable>(native->CopyFor(memory_));
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) override {
    XP_TRY(Ref<NativeBuffer> buffer, NewBuffer(memory_, shape, "transfer to the device"));
    if (shape.bytes() > 0) std::memcpy(buffer->data(), host, size_t(shape.bytes()));
    return Ref<Buffer>(buffer);
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    const auto& native = static_cast<const NativeBuffer&>(buffer);
    if (native.shape().bytes() > 0)
      std::memcpy(host, native.data(), size_t(native.shape().bytes()));
    return {};
  }
  int64_t NowNs() override { return ClockNs(CLOCK_MONOTONIC); }
  int64_t bytes_in_use() const override { return memory_->in_use(); }
  int64_t peak_bytes_in_use() const override { return memory_->most_in_use(); }

 private:
  const Ref<DeviceMemory> memory_;
  const std::shared_ptr<ThreadPool> pool_;
};

}  // namespace

std::unique_ptr<Backend> MakeNativeBackend(int threads) {
  return std::make_unique<NativeBackend>(std::make_shared<ThreadPool>(threads));
}

std::vector<std::unique_ptr<Backend>> MakeNativeBackends(int count, int threads) {
  const auto pool = std::make_shared<ThreadPool>(threads, count);
  std::vector<std::unique_ptr<Backend>> backends;
  for (int i = 0; i < count; ++i) backends.push_back(std::make_unique<NativeBackend>(pool));
  return backends;
}

}  // namespace xlaprof::lazy
