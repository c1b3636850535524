// Operations whose indices are data: index_select, gather, scatter, scatter_add, index_copy,
// index_add.
#include <algorithm>

#include "core/backend/native/strided.h"
#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {
namespace {

// Calls f with the unsigned integer type that is as wide as an element.
template <class F>
std::unique_ptr<Thunk> VisitWidth(DType dtype, F&& f) {
  switch (ByteSize(dtype)) {
    case 1:
      return f(uint8_t{});
    case 2:
      return f(uint16_t{});
    case 4:
      return f(uint32_t{});
    default:
      return f(uint64_t{});
  }
}

template <class F>
std::unique_ptr<Thunk> VisitIndex(DType dtype, F&& f) {
  return dtype == DType::kI32 ? f(int32_t{}) : f(int64_t{});
}

template <class T>
T Sum(T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return a || b;
  else if constexpr (std::is_integral_v<T>)
    return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
  else if constexpr (sizeof(T) == 2)
    return T(float(a) + float(b));
  else
    return a + b;
}

ThunkOr MakeIndexSelect(const Task& task) {
  const Around from(task.shape(0), size_t(task.attribute(0)));
  const int64_t count = task.shape(1).elements();
  const int64_t row_bytes = from.inner * ByteSize(task.shape(0).dtype);
  return VisitIndex(task.shape(1).dtype, [&](auto i) -> std::unique_ptr<Thunk> {
    using Index = decltype(i);
    return ThunkOf([=, &pool = task.pool, in = task.operands[0].slot, index = task.operands[1].slot,
                    out = task.result.slot](char* const* memory) {
      auto* indices = reinterpret_cast<const Index*>(memory[index]);
      pool.For(from.outer * count, GrainOfRows(from.inner), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const int64_t at = std::clamp<int64_t>(int64_t(indices[row % count]), 0, from.size - 1);
          std::memcpy(memory[out] + row * row_bytes,
                      memory[in] + (row / count * from.size + at) * row_bytes, size_t(row_bytes));
        }
      });
    });
  });
}

// Walks through an index. Calls f(place in the indexed tensor, place in the other tensor) per
// element.
class Walk {
 public:
  Walk(const Shape& index, const Shape& indexed, const Shape& other, size_t dim)
      : dims_(index.dims),
        indexed_(RowMajorStrides(indexed.dims)),
        other_(RowMajorStrides(other.dims)),
        step_(indexed_[dim]),
        size_(indexed.dims[dim]) {
    indexed_[dim] = 0;
  }

  int64_t outer() const { return dims_[0]; }
  int64_t inner() const {
    int64_t count = 1;
    for (size_t i = 1; i < dims_.size(); ++i) count *= dims_[i];
    return count;
  }

  // Walks [begin, end) of the first dimension.
  template <class Index, class F>
  void Run(const Index* index, int64_t begin, int64_t end, F&& f) const {
    index += begin * inner();
    Level(index, 0, begin, end, begin * indexed_[0], begin * other_[0], f);
  }

 private:
  template <class Index, class F>
  void Level(const Index*& index, size_t dim, int64_t begin, int64_t end, int64_t indexed,
             int64_t other, F&& f) const {
    for (int64_t i = begin; i < end; ++i, indexed += indexed_[dim], other += other_[dim]) {
      if (dim + 1 < dims_.size())
        Level(index, dim + 1, 0, dims_[dim + 1], indexed, other, f);
      else
        f(indexed + std::clamp<int64_t>(int64_t(*index++), 0, size_ - 1) * step_, other);
    }
  }

  Dims dims_, indexed_, other_;
  int64_t step_, size_;
};

// Rejects an index of rank 0.
absl::Status ExpectRank(const Task& task) {
  if (task.shape(1).rank() > 0) return {};
  return Unsupported("{}: the index has no dimensions", Describe(task));
}

ThunkOr MakeGather(const Task& task) {
  XP_TRY(ExpectRank(task));
  const Walk walk(task.shape(1), task.shape(0), task.result.shape, size_t(task.attribute(0)));
  return VisitWidth(task.shape(0).dtype, [&](auto t) {
    using T = decltype(t);
    return VisitIndex(task.shape(1).dtype, [&](auto i) -> std::unique_ptr<Thunk> {
      using Index = decltype(i);
      return ThunkOf([=, &pool = task.pool, in = task.operands[0].slot,
                      index = task.operands[1].slot, out = task.result.slot](char* const* memory) {
        auto* from = reinterpret_cast<const T*>(memory[in]);
        auto* to = reinterpret_cast<T*>(memory[out]);
        auto* indices = reinterpret_cast<const Index*>(memory[index]);
        pool.For(walk.outer(), GrainOfRows(walk.inner()), [&](int64_t begin, int64_t end) {
          walk.Run(indices, begin, end, [&](int64_t a, int64_t b) { to[b] = from[a]; });
        });
      });
    });
  });
}

// Changes elements of its first operand, in place if it may.
template <class F>
class ChangingThunk final : public Cloned<ChangingThunk<F>> {
 public:
  ChangingThunk(const Task& task, F change)
      : into_(task.operands[0].slot),
        index_(task.operands[1].slot),
        from_(task.operands[2].slot),
        out_(task.result.slot),
        bytes_(task.result.shape.bytes()),
        pool_(task.pool),
        change_(std::move(change)) {}

  void Run(char* const* memory) override {
    const char* into = memory[into_];
    char* out = memory[out_];
    if (into != out)
      pool_.For(bytes_, kGrain * 4, [&](int64_t begin, int64_t end) {
        std::memcpy(out + begin, into + begin, size_t(end - begin));
      });
    change_(out, memory[index_], memory[from_]);
  }
  bool MayReuse(int32_t operand, int32_t) const override {
    return operand == into_ && operand != from_ && operand != index_;
  }

 private:
  const int32_t into_, index_, from_, out_;
  const int64_t bytes_;
  ThreadPool& pool_;
  const F change_;
};

// Calls f(kind of element, function of an old and a new element). The function adds, or returns the
// new element; then only the width of the type matters.
template <class F>
std::unique_ptr<Thunk> VisitChange(const Task& task, bool adds, F&& f) {
  const DType dtype = task.shape(0).dtype;
  if (!adds) return VisitWidth(dtype, [&](auto t) { return f(t, [](auto, auto b) { return b; }); });
  return VisitDType(dtype, [&](auto t) { return f(t, [](auto a, auto b) { return Sum(a, b); }); });
}

ThunkOr MakeScatter(const Task& task, bool adds) {
  XP_TRY(ExpectRank(task));
  const size_t dim = size_t(task.attribute(0));
  const Walk walk(task.shape(1), task.shape(0), task.shape(2), dim);
  return VisitChange(task, adds, [&](auto t, auto combine) {
    using T = decltype(t);
    return VisitIndex(task.shape(1).dtype, [&](auto i) -> std::unique_ptr<Thunk> {
      using Index = decltype(i);
      auto change = [walk, dim, combine, &pool = task.pool](char* out, const char* index,
                                                            const char* from) {
        auto* to = reinterpret_cast<T*>(out);
        auto* others = reinterpret_cast<const T*>(from);
        auto body = [&](int64_t begin, int64_t end) {
          walk.Run(reinterpret_cast<const Index*>(index), begin, end,
                   [&](int64_t a, int64_t b) { to[a] = combine(to[a], others[b]); });
        };
        // Two threads must not write the same element.
        if (dim == 0)
          body(0, walk.outer());
        else
          pool.For(walk.outer(), GrainOfRows(walk.inner()), body);
      };
      return std::make_unique<ChangingThunk<decltype(change)>>(task, change);
    });
  });
}

ThunkOr MakeIndexChange(const Task& task, bool adds) {
  const Around into(task.shape(0), size_t(task.attribute(0)));
  const int64_t count = task.shape(1).elements();
  return VisitChange(task, adds, [&](auto t, auto combine) {
    using T = decltype(t);
    return VisitIndex(task.shape(1).dtype, [&](auto i) -> std::unique_ptr<Thunk> {
      using Index = decltype(i);
      auto change = [into, count, combine, &pool = task.pool](char* out, const char* index,
                                                              const char* from) {
        auto* indices = reinterpret_cast<const Index*>(index);
        // Divides the work by columns, because a row may occur twice in the index.
        const int64_t columns = into.outer * into.inner;
        const int64_t grain = std::max<int64_t>(16, GrainOfRows(count));
        pool.For(columns, grain, [&](int64_t begin, int64_t end) {
          while (begin < end) {
            const int64_t outer = begin / into.inner, column = begin % into.inner;
            const int64_t width = std::min(into.inner - column, end - begin);
            for (int64_t k = 0; k < count; ++k) {
              const int64_t at = std::clamp<int64_t>(int64_t(indices[k]), 0, into.size - 1);
              T* to = reinterpret_cast<T*>(out) + (outer * into.size + at) * into.inner + column;
              const T* row =
                  reinterpret_cast<const T*>(from) + (outer * count + k) * into.inner + column;
              for (int64_t j = 0; j < width; ++j) to[j] = combine(to[j], row[j]);
            }
            begin += width;
          }
        });
      };
      return std::make_unique<ChangingThunk<decltype(change)>>(task, change);
    });
  });
}

}  // namespace

ThunkOr MakeIndexing(const Task& task) {
  const Op* op = task.instruction.op;
  if (op == &op::index_select) return MakeIndexSelect(task);
  if (op == &op::gather) return MakeGather(task);
  if (op == &op::scatter || op == &op::scatter_add)
    return MakeScatter(task, op == &op::scatter_add);
  return MakeIndexChange(task, op == &op::index_add);
}

}  // namespace xlaprof::lazy
