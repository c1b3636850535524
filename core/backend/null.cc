// A device that computes nothing: its results are zeros, and its clock advances by fixed steps.
#include <atomic>
#include <cstring>

#include "core/backend/backend.h"

namespace xlaprof::lazy {
namespace {

constexpr int64_t kKernelNs = 1'000, kCompileNs = 1'000'000, kTransferNs = 10'000;

struct State final : RefCounted {
  std::atomic<int64_t> now_ns{0}, bytes{0}, most_bytes{0};
  void Take(int64_t taken) {
    const int64_t now = bytes += taken;
    int64_t most = most_bytes;
    while (now > most && !most_bytes.compare_exchange_weak(most, now)) continue;
  }
};

class NullBuffer final : public Buffer {
 public:
  NullBuffer(Shape shape, Ref<State> state) : Buffer(std::move(shape)), state_(std::move(state)) {
    state_->Take(this->shape().bytes());
  }
  ~NullBuffer() override { state_->bytes -= shape().bytes(); }

 private:
  const Ref<State> state_;
};

bool IsKernel(const Instruction& instruction) {
  return instruction.op != &op::device_data && instruction.op != &op::constant &&
         instruction.op != &op::view;
}

// Treats each instruction as a kernel.
class NullExecutable final : public Executable {
 public:
  NullExecutable(const Program& program, Ref<State> state)
      : name_(program.name), state_(std::move(state)) {
    for (const Instruction& it : program.instructions) {
      if (!IsKernel(it)) continue;
      Kernel kernel{.name = std::string(it.op->name),
                    .op_names = std::string(it.op->name),
                    .shape = it.shape.ToText(),
                    .bytes = it.shape.bytes(),
                    .location = it.location,
                    .scope = it.scope};
      const auto operands = program.OperandShapes(it);
      for (const Shape* operand : operands) {
        kernel.AddOperand(*operand);
        kernel.bytes += operand->bytes();
      }
      kernel.flops = it.op->flops != nullptr ? it.op->flops(operands, it.shape, it.attributes)
                                             : double(it.shape.elements());
      kernels_.push_back(std::move(kernel));
    }
    for (int32_t parameter : program.parameters)
      sizes_.argument_bytes += program.instructions[size_t(parameter)].shape.bytes();
    for (int32_t result : program.results) {
      results_.push_back(program.instructions[size_t(result)].shape);
      sizes_.result_bytes += results_.back().bytes();
    }
    for (const Program::Donation& donation : program.donations)
      sizes_.alias_bytes += results_[size_t(donation.result)].bytes();
    arguments_ = program.parameters.size();
  }

  absl::StatusOr<std::vector<Ref<Buffer>>> Run(std::vector<Ref<Buffer>> arguments,
                                               const RunContext& context) override {
    if (arguments.size() != arguments_)
      return Invalid("{}: takes {} arguments, not {}", name_, arguments_, arguments.size());
    for (const Kernel& kernel : kernels_) {
      const int64_t begin_ns = state_->now_ns.fetch_add(kKernelNs);
      if (context.listener != nullptr) context.listener->OnKernel(kernel, begin_ns, kKernelNs);
    }
    std::vector<Ref<Buffer>> results;
    for (const Shape& shape : results_) results.push_back(MakeRef<NullBuffer>(shape, state_));
    return results;
  }
  Sizes sizes() const override { return sizes_; }
  std::span<const Kernel> kernels() const override { return kernels_; }

 private:
  const std::string name_;
  const Ref<State> state_;
  size_t arguments_ = 0;
  std::vector<Shape> results_;
  std::vector<Kernel> kernels_;
  Sizes sizes_;
};

class NullBackend final : public Backend {
 public:
  explicit NullBackend(int64_t begin_ns) { state_->now_ns = begin_ns; }
  std::string_view name() const override { return "NULL"; }
  absl::StatusOr<std::unique_ptr<Executable>> Compile(Program program) override {
    state_->now_ns += kCompileNs;
    return std::make_unique<NullExecutable>(program, state_);
  }
  absl::StatusOr<Ref<Buffer>> ToDevice(const void*, Shape shape) override {
    state_->now_ns += kTransferNs;
    return Ref<Buffer>(MakeRef<NullBuffer>(std::move(shape), state_));
  }
  absl::Status ToHost(const Buffer& buffer, void* host) override {
    state_->now_ns += kTransferNs;
    if (buffer.shape().bytes() > 0) std::memset(host, 0, size_t(buffer.shape().bytes()));
    return {};
  }
  int64_t NowNs() override { return state_->now_ns; }
  int64_t bytes_in_use() const override { return state_->bytes; }
  int64_t peak_bytes_in_use() const override { return state_->most_bytes; }

 private:
  const Ref<State> state_ = MakeRef<State>();
};

}  // namespace

std::unique_ptr<Backend> MakeNullBackend(int64_t begin_ns) {
  return std::make_unique<NullBackend>(begin_ns);
}

}  // namespace xlaprof::lazy
