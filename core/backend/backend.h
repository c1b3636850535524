// The interface of what executes programs. There is one file or directory per backend, and the
// runtime knows only this header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ref.h"
#include "base/status.h"
#include "core/backend/peers.h"
#include "core/graph/program.h"
#include "core/ir/sharding.h"

namespace xlaprof::lazy {

// Memory of a device that holds one dense, row-major tensor.
class Buffer : public RefCounted {
 public:
  const Shape& shape() const { return shape_; }

 protected:
  explicit Buffer(Shape shape) : shape_(std::move(shape)) {}

 private:
  const Shape shape_;
};

// One operation, or several that were fused, as an executable runs it.
struct Kernel {
  std::string name;      // aten::mm; if fused: "fused add..relu", the first and last
  std::string op_names;  // all operations in order, separated by spaces
  std::string shape;     // the result's shape: "f32[64,10]"
  std::string operands;  // the operands' shapes: "f32[64,784], f32[784,10]"
  double flops = 0;
  int64_t bytes = 0;  // bytes read and written
  std::source_location location;
  ScopeId scope = 0;

  void AddOperand(const Shape& operand) {
    operands += (operands.empty() ? "" : ", ") + operand.ToText();
  }
};

// Receives each kernel that runs, on the thread that executes it.
class KernelListener {
 public:
  virtual ~KernelListener() = default;
  // Reports a kernel, with times in nanoseconds of the backend's clock.
  virtual void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) = 0;
  // Say that the calling thread runs the program on one of the backend's several devices, and that
  // it has done so. Between them it calls OnKernel. Other threads call them at the same time.
  virtual void EnterDevice(std::string_view name) {}
  virtual void LeaveDevice(int64_t ts_ns, int64_t dur_ns) {}
};

// Gives a program what it may use while it runs.
struct RunContext {
  KernelListener* listener = nullptr;  // null: nobody listens
  Peers* peers = nullptr;              // null: the program runs alone
};

// A compiled program. It runs on only one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;

  // Runs the program with `arguments` in its order, and returns the results in order. The caller
  // keeps no other reference to donated arguments, so that their memory can be used.
  virtual absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                                       const RunContext& context) = 0;

  struct Sizes {
    int64_t argument_bytes = 0, result_bytes = 0;
    int64_t alias_bytes = 0;  // bytes of results in donated arguments
    int64_t temporary_bytes = 0, program_bytes = 0;
  };
  virtual Sizes sizes() const = 0;
  virtual std::span<const Kernel> kernels() const = 0;
  // Returns the shardings of the results, in order, as attributes. It is empty if none is divided.
  virtual std::span<const Attributes> result_shardings() const { return {}; }
};

// Any thread may call its methods.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // the name in a device's name: CPU
  // Returns the name in files of saved programs. Two backends that cannot load each other's programs
  // have different ones.
  virtual std::string_view cache_name() const { return name(); }
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) = 0;
  // Convert the result of Compile(program) to bytes, and back in another process of the same
  // version. Return Unsupported if the backend has no such form. Deserialize returns an error if
  // the bytes do not belong to this program.
  virtual absl::StatusOr<std::string> Serialize(const Executable& executable,
                                                const Program& program) {
    return Unsupported("{}: this backend cannot save compiled programs", name());
  }
  virtual absl::StatusOr<std::unique_ptr<Executable>> Deserialize(std::string_view bytes,
                                                                  const Program& program) {
    return Unsupported("{}: this backend cannot save compiled programs", name());
  }
  // Returns the program of an executable of another backend, for this one. Both may run at the same
  // time. Nothing is compiled. Returns Unsupported if the two cannot share programs.
  virtual absl::StatusOr<std::unique_ptr<Executable>> Share(const Executable& executable) {
    return Unsupported("{}: this backend cannot share compiled programs", name());
  }
  // Returns the number of devices that together are this one, among which it divides tensors.
  virtual int64_t devices() const { return 1; }
  // Returns whether it can do that, even if there is only one such device.
  virtual bool divides_tensors() const { return false; }

  // Copy `shape.bytes()` bytes.
  virtual absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) = 0;
  // Does the same, and divides the tensor among the devices.
  virtual absl::StatusOr<Ref<Buffer>> ToDevices(const void* host, Shape shape,
                                                const Sharding& sharding) {
    return Unsupported("{}: this backend divides no tensors", name());
  }
  virtual absl::Status ToHost(const Buffer& buffer, void* host) = 0;
  virtual int64_t NowNs() = 0;  // CLOCK_MONOTONIC, or a clock of its own
  virtual int64_t bytes_in_use() const = 0;
  virtual int64_t peak_bytes_in_use() const = 0;  // the highest value so far
};

// Makes a backend with kernels on the CPU. oneDNN does matmul, convolution, average pooling and
// batch norm; our code fuses chains of elementwise operations. `threads` 0 means one per core.
std::unique_ptr<Backend> MakeNativeBackend(int threads = 0);
// Makes several, which can share programs. Together they use `threads`, at least one each.
std::vector<std::unique_ptr<Backend>> MakeNativeBackends(int count, int threads = 0);
// Makes a backend whose device consists of those of several backends, among which it divides
// tensors and programs (docs/decisions/0030). The backends must be able to share programs.
std::unique_ptr<Backend> MakeSpmdBackend(std::vector<std::unique_ptr<Backend>> devices);
// Makes a backend that computes nothing, for tests whose output is the same to the byte. Results
// are zeros. Its clock begins at `begin_ns` and advances by a fixed time per kernel, transfer and
// compilation.
std::unique_ptr<Backend> MakeNullBackend(int64_t begin_ns = 0);
// Makes a backend that runs XLA, by the PJRT plugin in the shared library `plugin`. `device` counts
// the plugin's devices that this process can use. All backends of one plugin share its client. An
// error says what is wrong with the plugin; without PJRT's header in the build, each call is an
// error that names the option of CMake.
absl::StatusOr<std::unique_ptr<Backend>> MakePjrtBackend(const std::string& plugin, int device = 0);
// Returns how many devices of the plugin this process can use.
absl::StatusOr<int> CountPjrtDevices(const std::string& plugin);

}  // namespace xlaprof::lazy
