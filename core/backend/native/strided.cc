#include "core/backend/native/strided.h"

#include <algorithm>
#include <cstring>

#include "core/backend/native/thunk.h"

namespace xlaprof::lazy {
namespace {

// The side of a tile: the elements of two cache lines, so that each line that is read or written is
// fully used while it is in the cache.
template <class T>
constexpr int64_t kTile = 128 / sizeof(T);

template <class T>
void Transpose(const T* from, int64_t from_row, int64_t from_column, T* to, int64_t to_row,
               int64_t to_column, int64_t rows, int64_t columns) {
  constexpr int64_t kSide = kTile<T>;
  const bool by_lines = from_row == 1 && to_column == 1;
  for (int64_t r = 0; r < rows; r += kSide) {
    for (int64_t c = 0; c < columns; c += kSide) {
      const int64_t height = std::min(kSide, rows - r), width = std::min(kSide, columns - c);
      const T* source = from + r * from_row + c * from_column;
      T* target = to + r * to_row + c * to_column;
      if (by_lines && height == kSide && width == kSide) {
        T lines[kSide][kSide];
        for (int64_t j = 0; j < kSide; ++j)
          for (int64_t i = 0; i < kSide; ++i) lines[i][j] = source[i + j * from_column];
        for (int64_t i = 0; i < kSide; ++i)
          std::memcpy(target + i * to_row, lines[i], sizeof lines[i]);
        continue;
      }
      for (int64_t i = 0; i < height; ++i)
        for (int64_t j = 0; j < width; ++j)
          target[i * to_row + j * to_column] = source[i * from_row + j * from_column];
    }
  }
}

template <class F>
void VisitBytes(int64_t bytes, F&& f) {
  if (bytes == 1) f(uint8_t{});
  if (bytes == 2) f(uint16_t{});
  if (bytes == 4) f(uint32_t{});
  if (bytes == 8) f(uint64_t{});
}

}  // namespace

Strided Strided::Of(const Shape& shape) { return {shape.dims, RowMajorStrides(shape.dims), 0}; }

Strided SliceOf(const Attributes& attributes, const Shape& whole) {
  Strided result = Strided::Of(whole);
  const auto [dim, start, end, step] =
      std::tuple(size_t(attributes[0]), attributes[1], attributes[2], attributes[3]);
  result.offset = start * result.strides[dim];
  result.dims[dim] = (end - start + step - 1) / step;
  result.strides[dim] *= step;
  return result;
}

Strided ViewOf(const Instruction& instruction, const Shape& operand) {
  const Op* op = instruction.op;
  const Attributes& attributes = instruction.attributes;
  Strided result = Strided::Of(operand);
  if (op == &op::slice) return SliceOf(attributes, operand);
  if (op == &op::expand) {
    const Dims& dims = instruction.shape.dims;
    const size_t added = dims.size() - operand.dims.size();
    Dims strides(dims.size(), 0);
    for (size_t i = added; i < dims.size(); ++i)
      if (operand.dims[i - added] != 1) strides[i] = result.strides[i - added];
    return {dims, strides, 0};
  }
  if (op == &op::permute) {
    Strided permuted;
    for (int64_t dim : attributes) {
      permuted.dims.push_back(result.dims[size_t(dim)]);
      permuted.strides.push_back(result.strides[size_t(dim)]);
    }
    return permuted;
  }
  XP_CHECK(op == &op::flip);
  for (int64_t dim : attributes) {
    const size_t at = size_t(dim);
    result.offset += (result.dims[at] - 1) * result.strides[at];
    result.strides[at] = -result.strides[at];
  }
  return result;
}

void Simplify(Strided* a, Strided* b) {
  Strided x{{}, {}, a->offset}, y{{}, {}, b->offset};
  for (size_t i = 0; i < a->dims.size(); ++i) {
    const int64_t dim = a->dims[i];
    if (dim == 1) continue;
    const bool joins = !x.dims.empty() && x.strides.back() == dim * a->strides[i] &&
                       y.strides.back() == dim * b->strides[i];
    if (!joins) {
      x.dims.push_back(1), y.dims.push_back(1);
      x.strides.push_back(0), y.strides.push_back(0);
    }
    x.dims.back() *= dim, y.dims.back() *= dim;
    x.strides.back() = a->strides[i], y.strides.back() = b->strides[i];
  }
  if (x.dims.empty()) {
    x.dims = y.dims = {1};
    x.strides = y.strides = {1};
  }
  *a = std::move(x), *b = std::move(y);
}

void Simplify(Strided* strided) {
  Strided same = *strided;
  Simplify(strided, &same);
}

StridedCopy::StridedCopy(Strided from, Strided to, int64_t element_bytes)
    : from_(std::move(from)), to_(std::move(to)), bytes_(element_bytes) {
  Simplify(&from_, &to_);
}

void StridedCopy::Run(const char* from, char* to, ThreadPool& pool) const {
  if (from_.elements() == 0) return;
  from += from_.offset * bytes_;
  to += to_.offset * bytes_;
  const int64_t outer = from_.dims[0];
  if (from_.dims.size() == 1) {
    if (from_.strides[0] == 1 && to_.strides[0] == 1)
      pool.For(outer, kGrain, [&](int64_t begin, int64_t end) {
        std::memcpy(to + begin * bytes_, from + begin * bytes_, size_t((end - begin) * bytes_));
      });
    else
      Slab(from, to, 0);
    return;
  }
  if (from_.dims.size() == 2 && from_.strides[1] != 1 && from_.strides[0] == 1) {
    pool.For(outer, (GrainOfRows(from_.dims[1]) + 127) / 128 * 128,
             [&](int64_t begin, int64_t end) {
               VisitBytes(bytes_, [&](auto t) {
                 using T = decltype(t);
                 Transpose(reinterpret_cast<const T*>(from) + begin, 1, from_.strides[1],
                           reinterpret_cast<T*>(to) + begin * to_.strides[0], to_.strides[0],
                           to_.strides[1], end - begin, from_.dims[1]);
               });
             });
    return;
  }
  pool.For(outer, GrainOfRows(from_.elements() / outer), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      Slab(from + i * from_.strides[0] * bytes_, to + i * to_.strides[0] * bytes_, 1);
  });
}

// Copies everything from dimension `dim` on.
void StridedCopy::Slab(const char* from, char* to, size_t dim) const {
  const size_t left = from_.dims.size() - dim;
  const int64_t size = from_.dims[dim], step = from_.strides[dim], to_step = to_.strides[dim];
  if (left == 1 && step == 1 && to_step == 1) {
    std::memcpy(to, from, size_t(size * bytes_));
    return;
  }
  if (left <= 2) {
    const bool plane = left == 2 && from_.strides[dim + 1] != 1;
    if (left == 1 || plane) {
      VisitBytes(bytes_, [&](auto t) {
        using T = decltype(t);
        auto* a = reinterpret_cast<const T*>(from);
        auto* b = reinterpret_cast<T*>(to);
        if (plane)
          Transpose(a, step, from_.strides[dim + 1], b, to_step, to_.strides[dim + 1], size,
                    from_.dims[dim + 1]);
        else
          for (int64_t i = 0; i < size; ++i) b[i * to_step] = a[i * step];
      });
      return;
    }
  }
  for (int64_t i = 0; i < size; ++i)
    Slab(from + i * step * bytes_, to + i * to_step * bytes_, dim + 1);
}

}  // namespace xlaprof::lazy
