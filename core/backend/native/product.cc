// Multiplies matrices. oneDNN does so for f32, otherwise it goes row by row.
#include <dnnl.h>

#include <algorithm>

#include "core/backend/native/onednn.h"
#include "core/backend/native/strided.h"
#include "core/backend/native/widened.h"

namespace xlaprof::lazy {
namespace {

// The sizes of `count` products, each rows x columns with `inner` multiplications per element.
struct Sizes {
  int64_t count, rows, columns, inner;
  bool transposed[2];

  explicit Sizes(const Task& task) {
    const Dims& result = task.result.shape.dims;
    const size_t last = result.size() - 1;
    count = last == 2 ? result[0] : 1;
    rows = result[last - 1];
    columns = result[last];
    inner = task.shape(0).dims[last - (task.transposed[0] ? 1 : 0)];
    for (size_t i = 0; i < 2; ++i) transposed[i] = task.transposed[i];
  }
};

// This many multiplications are worth another thread.
constexpr int64_t kWorth = 1 << 20;

class Product : public Thunk {
 protected:
  explicit Product(const Task& task)
      : sizes_(task),
        a_(task.operands[0].slot),
        b_(task.operands[1].slot),
        out_(task.result.slot),
        pool_(task.pool) {}

  const Sizes sizes_;
  const int32_t a_, b_, out_;
  ThreadPool& pool_;
};

class Sgemm final : public Cloned<Sgemm, Product> {
 public:
  explicit Sgemm(const Task& task) : Cloned(task) {}

  void Run(char* const* memory) override {
    const OneThread one_thread;
    auto* a = reinterpret_cast<const float*>(memory[a_]);
    auto* b = reinterpret_cast<const float*>(memory[b_]);
    auto* out = reinterpret_cast<float*>(memory[out_]);
    const Sizes& s = sizes_;
    const int64_t work = s.rows * s.columns * s.inner;
    if (s.count > 1) {
      pool_.For(s.count, std::max<int64_t>(1, kWorth / std::max<int64_t>(1, work)),
                [&](int64_t begin, int64_t end) {
                  for (int64_t i = begin; i < end; ++i)
                    Part(a + i * s.rows * s.inner, b + i * s.inner * s.columns,
                         out + i * s.rows * s.columns, 0, s.rows, 0, s.columns);
                });
      return;
    }
    // Divides the longer side, into pieces that fill whole tiles of the kernels.
    const bool by_rows = s.rows >= s.columns;
    const int64_t length = by_rows ? s.rows : s.columns;
    const int64_t grain =
        std::max<int64_t>(kWorth / std::max<int64_t>(1, work / std::max<int64_t>(1, length)),
                          (length + pool_.threads() - 1) / pool_.threads());
    pool_.For(length, (grain + 47) / 48 * 48, [&](int64_t begin, int64_t end) {
      if (by_rows)
        Part(a, b, out, begin, end, 0, s.columns);
      else
        Part(a, b, out, 0, s.rows, begin, end);
    });
  }

 private:
  void Part(const float* a, const float* b, float* out, int64_t row, int64_t row_end,
            int64_t column, int64_t column_end) const {
    const OneThread one_thread;
    const Sizes& s = sizes_;
    a += row * (s.transposed[0] ? 1 : s.inner);
    b += column * (s.transposed[1] ? s.inner : 1);
    dnnl_sgemm(s.transposed[0] ? 'T' : 'N', s.transposed[1] ? 'T' : 'N', row_end - row,
               column_end - column, s.inner, 1.0f, a, s.transposed[0] ? s.rows : s.inner, b,
               s.transposed[1] ? s.inner : s.columns, 0.0f, out + row * s.columns + column,
               s.columns);
  }
};

// Multiplies integers and f64.
template <class T>
class SimpleProduct final : public Product {
 public:
  explicit SimpleProduct(const Task& task)
      : Product(task), add_(ThisCpusLoops().multiply_add[size_t(ComputedAs(DTypeOf<T>()))]) {}

  std::unique_ptr<Thunk> Clone(Meetings*) const override {
    return std::make_unique<SimpleProduct>(*this);
  }

  // The rows of the second operand are walked, so they must be contiguous; scratch memory holds
  // them if it is transposed.
  int64_t scratch_bytes() const override {
    return sizes_.transposed[1] ? sizes_.count * sizes_.inner * sizes_.columns * int64_t(sizeof(T))
                                : 0;
  }

  void Run(char* const* memory) override {
    const Sizes& s = sizes_;
    const char* b = memory[b_];
    if (s.transposed[1]) {
      const int64_t matrix = s.inner * s.columns;
      const Strided from{{s.count, s.inner, s.columns}, {matrix, 1, s.inner}};
      const Strided to{{s.count, s.inner, s.columns}, {matrix, s.columns, 1}};
      StridedCopy(from, to, sizeof(T)).Run(b, memory[scratch_], pool_);
      b = memory[scratch_];
    }
    const int64_t grain = GrainOfRows(s.inner * s.columns);
    pool_.For(s.count * s.rows, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t matrix = i / s.rows, row = i % s.rows;
        const T* a = reinterpret_cast<const T*>(memory[a_]) + matrix * s.rows * s.inner +
                     row * (s.transposed[0] ? 1 : s.inner);
        const T* rows = reinterpret_cast<const T*>(b) + matrix * s.inner * s.columns;
        T* out = reinterpret_cast<T*>(memory[out_]) + i * s.columns;
        std::fill_n(out, s.columns, T(0));
        for (int64_t k = 0; k < s.inner; ++k)
          add_(rows + k * s.columns, a + k * (s.transposed[0] ? s.rows : 1), out, s.columns);
      }
    });
  }

 private:
  const Loops::MultiplyAdd add_;
};

}  // namespace

ThunkOr MakeProduct(const Task& task) {
  const DType dtype = task.result.shape.dtype;
  if (Sizes(task).inner == 0)
    return ThunkOf([out = task.result.slot, bytes = task.result.shape.bytes()](
                       char* const* memory) { std::memset(memory[out], 0, size_t(bytes)); });
  if (IsShort(dtype)) return MakeWidened(task, MakeProduct);
  switch (dtype) {
    case DType::kF32:
      return std::make_unique<Sgemm>(task);
    case DType::kF64:
      return std::make_unique<SimpleProduct<double>>(task);
    case DType::kI32:
      return std::make_unique<SimpleProduct<int32_t>>(task);
    case DType::kI64:
      return std::make_unique<SimpleProduct<int64_t>>(task);
    default:
      return Unsupported("{}: the native backend has no matrix product for this type",
                         Describe(task));
  }
}

}  // namespace xlaprof::lazy
