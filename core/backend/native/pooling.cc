// Pooling of planes, and its gradients.
#include <algorithm>

#include "core/backend/native/through_f32.h"

namespace xlaprof::lazy {
namespace {

struct Window {
  int64_t planes, rows, columns, to_rows, to_columns;
  int64_t kernel[2], stride[2], padding[2];

  Window(const Task& task, const Shape& input, const Shape& pooled)
      : planes(input.dims[0] * input.dims[1]),
        rows(input.dims[2]),
        columns(input.dims[3]),
        to_rows(pooled.dims[2]),
        to_columns(pooled.dims[3]) {
    for (size_t i = 0; i < 2; ++i) {
      kernel[i] = task.attribute(i);
      stride[i] = task.attribute(2 + i);
      padding[i] = task.attribute(4 + i);
    }
  }

  // Calls f(place in the result, rows [r0, r1), columns [c0, c1) of the input that it covers).
  template <class F>
  void Each(F&& f) const {
    for (int64_t i = 0; i < to_rows; ++i) {
      const int64_t top = i * stride[0] - padding[0];
      const int64_t r0 = std::max<int64_t>(top, 0), r1 = std::min(top + kernel[0], rows);
      for (int64_t j = 0; j < to_columns; ++j) {
        const int64_t left = j * stride[1] - padding[1];
        f(i * to_columns + j, r0, r1, std::max<int64_t>(left, 0),
          std::min(left + kernel[1], columns));
      }
    }
  }
  int64_t in_plane() const { return rows * columns; }
  int64_t out_plane() const { return to_rows * to_columns; }
};

// Where the first of the largest is; what is no number counts as larger.
template <class T>
int64_t Largest(const T* plane, int64_t columns, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
  int64_t best = r0 * columns + c0;
  for (int64_t r = r0; r < r1; ++r) {
    for (int64_t at = r * columns + c0; at < r * columns + c1; ++at) {
      const T a = plane[at], b = plane[best];
      if (a > b || (a != a && b == b)) best = at;
    }
  }
  return best;
}

template <class T>
ThunkOr MakeForward(const Task& task) {
  const bool average = task.instruction.op == &op::avg_pool2d;
  return ThunkOf([window = Window(task, task.shape(0), task.result.shape), average,
                  &pool = task.pool, in = task.operands[0].slot,
                  out = task.result.slot](char* const* memory) {
    auto* from = reinterpret_cast<const T*>(memory[in]);
    auto* to = reinterpret_cast<T*>(memory[out]);
    const T share = T(1) / T(window.kernel[0] * window.kernel[1]);
    pool.For(window.planes, GrainOfRows(window.in_plane()), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const T* plane = from + p * window.in_plane();
        T* result = to + p * window.out_plane();
        window.Each([&](int64_t at, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
          if (average) {
            T sum = 0;
            for (int64_t r = r0; r < r1; ++r)
              for (int64_t c = c0; c < c1; ++c) sum += plane[r * window.columns + c];
            result[at] = sum * share;
          } else {
            result[at] = plane[Largest(plane, window.columns, r0, r1, c0, c1)];
          }
        });
      }
    });
  });
}

template <class T>
ThunkOr MakeBackward(const Task& task) {
  const bool average = task.instruction.op == &op::avg_pool2d_backward;
  return ThunkOf([window = Window(task, task.shape(1), task.shape(0)), average, &pool = task.pool,
                  gradient_slot = task.operands[0].slot, in = task.operands[1].slot,
                  out = task.result.slot](char* const* memory) {
    auto* gradients = reinterpret_cast<const T*>(memory[gradient_slot]);
    auto* from = reinterpret_cast<const T*>(memory[in]);
    auto* to = reinterpret_cast<T*>(memory[out]);
    const T share = T(1) / T(window.kernel[0] * window.kernel[1]);
    pool.For(window.planes, GrainOfRows(window.in_plane()), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const T* plane = from + p * window.in_plane();
        const T* gradient = gradients + p * window.out_plane();
        T* result = to + p * window.in_plane();
        std::fill_n(result, window.in_plane(), T(0));
        window.Each([&](int64_t at, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
          if (average) {
            for (int64_t r = r0; r < r1; ++r)
              for (int64_t c = c0; c < c1; ++c)
                result[r * window.columns + c] += gradient[at] * share;
          } else {
            result[Largest(plane, window.columns, r0, r1, c0, c1)] += gradient[at];
          }
        });
      }
    });
  });
}

}  // namespace

ThunkOr MakePooling(const Task& task) {
  const DType dtype = task.result.shape.dtype;
  if (IsShort(dtype)) return MakeThroughF32(task, MakePooling);
  const bool forward = task.operands.size() == 1;
  if (dtype == DType::kF32) return forward ? MakeForward<float>(task) : MakeBackward<float>(task);
  if (dtype == DType::kF64) return forward ? MakeForward<double>(task) : MakeBackward<double>(task);
  return Unsupported("{}: there is no pooling of this type", Describe(task));
}

}  // namespace xlaprof::lazy
