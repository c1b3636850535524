// Operations that only move elements.
#include <cstring>

#include "core/backend/native/strided.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {
namespace {

// Repeats a pattern of `width` bytes.
void Fill(char* to, int64_t elements, uint64_t bits, int64_t width) {
  if (width == 1) std::memset(to, int(bits), size_t(elements));
  auto fill = [&](auto t) {
    using T = decltype(t);
    std::fill_n(reinterpret_cast<T*>(to), elements, T(bits));
  };
  if (width == 2) fill(uint16_t{});
  if (width == 4) fill(uint32_t{});
  if (width == 8) fill(uint64_t{});
}

uint64_t BitsOf(double value, DType dtype) {
  return VisitDType(dtype, [&](auto t) -> uint64_t {
    using T = decltype(t);
    T converted;
    if constexpr (std::is_same_v<T, BFloat16> || std::is_same_v<T, Float16>)
      converted = T(float(value));
    else if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      converted = T(int64_t(value));
    else
      converted = T(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &converted, sizeof converted);
    return bits;
  });
}

// Returns which part of a pad's operand is in the result, and its place there. Low and high may be
// negative.
std::pair<Strided, Strided> Padded(const Task& task) {
  Strided from = Strided::Of(task.shape(0)), to = Strided::Of(task.result.shape);
  for (size_t i = 0; i < from.dims.size(); ++i) {
    const int64_t low = task.attribute(1 + 2 * i), high = task.attribute(2 + 2 * i);
    const int64_t cut_low = std::max<int64_t>(0, -low), cut_high = std::max<int64_t>(0, -high);
    from.offset += cut_low * from.strides[i];
    to.offset += std::max<int64_t>(0, low) * to.strides[i];
    from.dims[i] = std::max<int64_t>(0, from.dims[i] - cut_low - cut_high);
  }
  to.dims = from.dims;
  return {from, to};
}

ThunkOr MakePad(const Task& task) {
  auto [from, to] = Padded(task);
  const int64_t width = ByteSize(task.result.shape.dtype);
  const uint64_t bits = BitsOf(RealOf(task.attribute(0)), task.result.shape.dtype);
  return ThunkOf([copy = StridedCopy(from, to, width), width, bits, &pool = task.pool,
                  in = task.operands[0].slot, out = task.result.slot,
                  elements = task.result.shape.elements()](char* const* memory) {
    char* target = memory[out];
    pool.For(elements, kGrain, [&](int64_t begin, int64_t end) {
      Fill(target + begin * width, end - begin, bits, width);
    });
    copy.Run(memory[in], target, pool);
  });
}

ThunkOr MakeCat(const Task& task) {
  const size_t dim = size_t(task.attribute(0));
  const int64_t width = ByteSize(task.result.shape.dtype);
  std::vector<std::pair<int32_t, StridedCopy>> copies;
  int64_t at = 0;
  for (const TensorSlot& operand : task.operands) {
    Strided to = Strided::Of(task.result.shape);
    to.offset = at * to.strides[dim];
    to.dims = operand.shape.dims;
    at += operand.shape.dims[dim];
    copies.emplace_back(operand.slot, StridedCopy(Strided::Of(operand.shape), to, width));
  }
  return ThunkOf([copies, &pool = task.pool, out = task.result.slot](char* const* memory) {
    for (const auto& [slot, copy] : copies) copy.Run(memory[slot], memory[out], pool);
  });
}

class SliceScatter final : public Cloned<SliceScatter> {
 public:
  explicit SliceScatter(const Task& task)
      : part_(Strided::Of(task.shape(1)), SliceOf(task.instruction.attributes, task.shape(0)),
              ByteSize(task.result.shape.dtype)),
        whole_(Strided::Of(task.shape(0)), Strided::Of(task.shape(0)),
               ByteSize(task.result.shape.dtype)),
        into_(task.operands[0].slot),
        from_(task.operands[1].slot),
        out_(task.result.slot),
        pool_(task.pool) {}

  void Run(char* const* memory) override {
    if (memory[out_] != memory[into_]) whole_.Run(memory[into_], memory[out_], pool_);
    part_.Run(memory[from_], memory[out_], pool_);
  }
  bool MayReuse(int32_t operand, int32_t result) const override {
    return operand == into_ && operand != from_;
  }

 private:
  StridedCopy part_, whole_;
  int32_t into_, from_, out_;
  ThreadPool& pool_;
};

}  // namespace

ThunkOr MakeMovement(const Task& task) {
  const Op* op = task.instruction.op;
  if (op == &op::pad) return MakePad(task);
  if (op == &op::cat) return MakeCat(task);
  if (op == &op::slice_scatter) return std::make_unique<SliceScatter>(task);
  return ThunkOf(
      [copy = StridedCopy(ViewOf(task.instruction, task.shape(0)), Strided::Of(task.result.shape),
                          ByteSize(task.result.shape.dtype)),
       &pool = task.pool, in = task.operands[0].slot,
       out = task.result.slot](char* const* memory) { copy.Run(memory[in], memory[out], pool); });
}

}  // namespace xlaprof::lazy
