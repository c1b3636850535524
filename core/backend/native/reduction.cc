// Reduces over any dimensions: sums, maxima, minima, products, and the place of the maximum.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/backend/native/strided.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {
namespace {

// Number of elements computed at a time.
constexpr int64_t kBlock = 1024;
// Number of rows added up before their sum is added to the total, which keeps errors small.
constexpr int64_t kRows = 256;

Reduction ReductionOf(const Op* op) {
  if (op == &op::amax) return Reduction::kMax;
  if (op == &op::amin) return Reduction::kMin;
  return op == &op::prod ? Reduction::kProd : Reduction::kSum;
}

template <class T>
T Neutral(Reduction reduction) {
  using Limits = std::numeric_limits<T>;
  constexpr bool kInfinite = Limits::has_infinity;
  if (reduction == Reduction::kMax) return kInfinite ? -Limits::infinity() : Limits::lowest();
  if (reduction == Reduction::kMin) return kInfinite ? Limits::infinity() : Limits::max();
  return T(reduction == Reduction::kProd);
}

// Calls f with the type that `type` is computed in; bool stays bool.
template <class F>
void VisitComputed(DType type, F&& f) {
  switch (ComputedAs(type)) {
    case Computed::kBool:
      return f(bool{});
    case Computed::kI32:
      return f(int32_t{});
    case Computed::kI64:
      return f(int64_t{});
    case Computed::kF32:
      return f(float{});
    case Computed::kF64:
      return f(double{});
  }
}

int64_t OffsetOf(const Strided& strided, int64_t index) {
  int64_t offset = 0;
  for (size_t i = strided.dims.size(); i-- > 0; index /= strided.dims[i])
    offset += index % strided.dims[i] * strided.strides[i];
  return offset;
}

class ReductionThunk final : public Cloned<ReductionThunk> {
 public:
  explicit ReductionThunk(const Task& task)
      : reduction_(ReductionOf(task.instruction.op)),
        dtype_(task.shape(0).dtype),
        in_(task.operands[0].slot),
        out_(task.result.slot),
        results_(task.result.shape.elements()),
        empty_(task.shape(0).elements() == 0),
        pool_(task.pool) {
    Split(task);
    const auto type = size_t(ComputedAs(dtype_));
    const Loops& loops = ThisCpusLoops();
    reduce_ = loops.reduce[size_t(reduction_)][type];
    accumulate_ = loops.accumulate[size_t(reduction_)][type];
    load_ = loops.load[size_t(dtype_)];
    store_ = loops.store[size_t(dtype_)];
  }

  void Run(char* const* memory) override {
    VisitComputed(dtype_, [&](auto t) {
      using T = decltype(t);
      if (empty_) {
        const T neutral = Neutral<T>(reduction_);
        for (int64_t i = 0; i < results_; ++i) Store(&neutral, memory[out_], i, 1);
      } else if (rows_) {
        Rows<T>(memory[in_], memory[out_]);
      } else {
        Columns<T>(memory[in_], memory[out_]);
      }
    });
  }

 private:
  // Joins neighbouring dimensions of one kind, and divides them into kept ones, reduced ones, and
  // the last, which is walked.
  void Split(const Task& task) {
    const Attributes& attributes = task.instruction.attributes;
    const Strided all = Strided::Of(task.shape(0));
    Strided joined;
    std::vector<bool> reduced;
    for (size_t i = 0; i < all.dims.size(); ++i) {
      const bool now =
          std::find(attributes.begin() + 1, attributes.end(), int64_t(i)) != attributes.end();
      if (all.dims[i] == 1) continue;
      if (reduced.empty() || reduced.back() != now) {
        reduced.push_back(now);
        joined.dims.push_back(1);
        joined.strides.push_back(0);
      }
      joined.dims.back() *= all.dims[i];
      joined.strides.back() = all.strides[i];
    }
    if (reduced.empty()) return;
    rows_ = reduced.back();
    last_ = joined.dims.back();
    for (size_t i = 0; i + 1 < joined.dims.size(); ++i) {
      Strided& to = reduced[i] ? over_ : kept_;
      to.dims.push_back(joined.dims[i]);
      to.strides.push_back(joined.strides[i]);
    }
  }

  // Returns the elements from `at` on, in the type used for computing.
  const void* Load(const char* memory, int64_t at, int64_t n, void* buffer) const {
    const char* from = memory + at * ByteSize(dtype_);
    if (load_ == nullptr) return from;
    const void* in[] = {from};
    load_(in, buffer, n);
    return buffer;
  }
  void Store(const void* values, char* memory, int64_t at, int64_t n) const {
    char* to = memory + at * ByteSize(dtype_);
    const void* in[] = {values};
    if (store_ != nullptr)
      store_(in, to, n);
    else
      std::memcpy(to, values, size_t(n * ByteSize(dtype_)));
  }

  template <class T>
  void ReduceRow(const char* from, int64_t at, int64_t n, T* into) const {
    if (load_ == nullptr) return reduce_(Load(from, at, n, nullptr), into, n);
    alignas(64) float buffer[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t count = std::min(kBlock, n - i);
      reduce_(Load(from, at + i, count, buffer), into, count);
    }
  }

  // Reduces the last dimension.
  template <class T>
  void Rows(const char* from, char* to) {
    const int64_t kept = kept_.elements(), over = over_.elements();
    const T neutral = Neutral<T>(reduction_);
    const bool split = over == 1 && last_ >= 2 * kGrain && kept < 2 * pool_.threads();
    if (!split) {
      pool_.For(kept, GrainOfRows(over * last_), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          T value = neutral;
          const int64_t at = OffsetOf(kept_, i);
          for (int64_t j = 0; j < over; ++j)
            ReduceRow(from, at + OffsetOf(over_, j), last_, &value);
          Store(&value, to, i, 1);
        }
      });
      return;
    }
    // Parts have a fixed size, so that the result is the same for any number of threads.
    const int64_t parts = (last_ + kGrain - 1) / kGrain;
    std::unique_ptr<T[]> partial(new T[size_t(parts)]);
    for (int64_t i = 0; i < kept; ++i) {
      const int64_t at = OffsetOf(kept_, i);
      pool_.For(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part) {
          partial[size_t(part)] = neutral;
          ReduceRow(from, at + part * kGrain, std::min(kGrain, last_ - part * kGrain),
                    &partial[size_t(part)]);
        }
      });
      T value = neutral;
      reduce_(partial.get(), &value, parts);
      Store(&value, to, i, 1);
    }
  }

  // Adds rows [begin, end) of n columns from `at` on to `sums`.
  template <class T>
  void AddRows(const char* from, int64_t at, int64_t n, int64_t begin, int64_t end, T* sums) const {
    alignas(64) float buffer[kBlock];
    alignas(64) T run[kBlock];
    std::fill_n(sums, n, Neutral<T>(reduction_));
    while (begin < end) {
      const int64_t until = std::min(begin + kRows, end);
      std::fill_n(run, n, Neutral<T>(reduction_));
      for (; begin < until; ++begin)
        accumulate_(Load(from, at + OffsetOf(over_, begin), n, buffer), run, n);
      accumulate_(run, sums, n);
    }
  }

  // Reduces other dimensions and keeps the last.
  template <class T>
  void Columns(const char* from, char* to) {
    const int64_t kept = kept_.elements(), over = over_.elements();
    const int64_t blocks = (last_ + kBlock - 1) / kBlock;
    const int64_t rows_a_part = std::max<int64_t>(kRows, kGrain / std::min(last_, kBlock));
    const int64_t parts = (over + rows_a_part - 1) / rows_a_part;
    auto block_of = [&](int64_t task, int64_t* at, int64_t* result) {
      const int64_t column = task % blocks * kBlock;
      *at = OffsetOf(kept_, task / blocks) + column;
      *result = task / blocks * last_ + column;
      return std::min(kBlock, last_ - column);
    };
    const bool split = parts > 1 && kept * blocks < 2 * pool_.threads();
    if (!split) {
      pool_.For(kept * blocks, GrainOfRows(over * std::min(last_, kBlock)),
                [&](int64_t begin, int64_t end) {
                  alignas(64) T sums[kBlock];
                  for (int64_t task = begin; task < end; ++task) {
                    int64_t at, result;
                    const int64_t n = block_of(task, &at, &result);
                    AddRows(from, at, n, 0, over, sums);
                    Store(sums, to, result, n);
                  }
                });
      return;
    }
    const int64_t width = std::min(last_, kBlock);
    std::unique_ptr<T[]> partial(new T[size_t(parts * width)]);
    for (int64_t task = 0; task < kept * blocks; ++task) {
      int64_t at, result;
      const int64_t n = block_of(task, &at, &result);
      pool_.For(parts, 1, [&](int64_t begin, int64_t end) {
        for (int64_t part = begin; part < end; ++part)
          AddRows(from, at, n, part * rows_a_part, std::min((part + 1) * rows_a_part, over),
                  &partial[size_t(part * width)]);
      });
      for (int64_t part = 1; part < parts; ++part)
        accumulate_(&partial[size_t(part * width)], partial.get(), n);
      Store(partial.get(), to, result, n);
    }
  }

  const Reduction reduction_;
  const DType dtype_;
  const int32_t in_, out_;
  const int64_t results_;
  const bool empty_;
  ThreadPool& pool_;
  bool rows_ = true;
  int64_t last_ = 1;
  Strided kept_, over_;
  Loops::Reduce reduce_, accumulate_;
  Loops::Elementwise load_, store_;
};

// Returns whether `a` is larger, where NaN is the largest. Of equal elements the first wins.
template <class T>
bool Larger(T a, T b) {
  if constexpr (sizeof(T) == 2)
    return Larger(float(a), float(b));
  else
    return a > b || (a != a && b == b);
}

}  // namespace

ThunkOr MakeReduction(const Task& task) { return std::make_unique<ReductionThunk>(task); }

ThunkOr MakeArgMax(const Task& task) {
  const Shape& shape = task.shape(0);
  const Around around(shape, size_t(task.attribute(1)));
  const int64_t outer = around.outer, size = around.size, inner = around.inner;
  return VisitDType(shape.dtype, [&](auto t) -> std::unique_ptr<Thunk> {
    using T = decltype(t);
    return ThunkOf([=, &pool = task.pool, in = task.operands[0].slot,
                    out = task.result.slot](char* const* memory) {
      auto* from = reinterpret_cast<const T*>(memory[in]);
      auto* to = reinterpret_cast<int64_t*>(memory[out]);
      pool.For(outer, GrainOfRows(size * inner), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const T* plane = from + i * size * inner;
          int64_t* best = to + i * inner;
          std::fill_n(best, inner, 0);
          for (int64_t d = 1; d < size; ++d)
            for (int64_t j = 0; j < inner; ++j)
              if (Larger(plane[d * inner + j], plane[best[j] * inner + j])) best[j] = d;
        }
      });
    });
  });
}

}  // namespace xlaprof::lazy
