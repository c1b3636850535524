// What executes programs. One file or folder a backend; the runtime knows only this header.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ref.h"
#include "core/base/status.h"
#include "core/compile/program.h"

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
  std::string name;      // aten::mm; of fused: the first and the last operation, "fused add..relu"
  std::string op_names;  // all, in order, separated by spaces
  std::string shape;     // of the result: "f32[64,10]"
  std::string operands;  // shapes of what it reads: "f32[64,784], f32[784,10]"
  double flops = 0;
  int64_t bytes = 0;  // read and written
  std::source_location location;
  ScopeId scope = 0;

  void AddOperand(const Shape& operand) {
    operands += (operands.empty() ? "" : ", ") + operand.ToText();
  }
};

// Hears of each kernel that runs. Called on the thread that executes.
class KernelListener {
 public:
  virtual ~KernelListener() = default;
  // Times in nanoseconds of the backend's clock.
  virtual void OnKernel(const Kernel& kernel, int64_t ts_ns, int64_t dur_ns) = 0;
};

// A compiled program. Runs on one thread at a time.
class Executable {
 public:
  virtual ~Executable() = default;

  // `arguments`, in the program's order; of donated ones the caller keeps no other reference, so
  // that their memory can be used. Returns the results in order.
  virtual absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                                       KernelListener* listener) = 0;

  struct Sizes {
    int64_t argument_bytes = 0, result_bytes = 0;
    int64_t alias_bytes = 0;  // of results in donated arguments
    int64_t temporary_bytes = 0, program_bytes = 0;
  };
  virtual Sizes sizes() const = 0;
  virtual std::span<const Kernel> kernels() const = 0;
};

// All of its methods may be called from any thread.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;  // as in a device's name: CPU
  virtual absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) = 0;
  // What Compile(program) gave as bytes, and back in another process of the same version.
  // Unsupported where a backend has no such form; an error where bytes are not those of this
  // program.
  virtual absl::StatusOr<std::string> Serialize(const Executable& executable,
                                                const Program& program) {
    return Unsupported("{} keeps no programs", name());
  }
  virtual absl::StatusOr<std::unique_ptr<Executable>> Deserialize(std::string_view bytes,
                                                                  const Program& program) {
    return Unsupported("{} keeps no programs", name());
  }
  // Copies `shape.bytes()` bytes.
  virtual absl::StatusOr<Ref<Buffer>> ToDevice(const void* host, Shape shape) = 0;
  virtual absl::Status ToHost(const Buffer& buffer, void* host) = 0;
  virtual int64_t NowNs() = 0;  // CLOCK_MONOTONIC, or a clock of its own
  virtual int64_t bytes_in_use() const = 0;
  virtual int64_t peak_bytes_in_use() const = 0;  // the most that was, ever
};

// Kernels on the CPU: matmul, convolution, average pooling and batch norm by oneDNN, chains of
// elementwise operations fused by us. `threads`: 0: one a core.
std::unique_ptr<Backend> MakeNativeBackend(int threads = 0);
// Computes nothing: results are zeros, and its clock moves by a fixed time a kernel, transfer and
// compilation, from `begin_ns` on. For tests whose output is the same to the byte.
std::unique_ptr<Backend> MakeNullBackend(int64_t begin_ns = 0);

}  // namespace xlaprof::lazy
