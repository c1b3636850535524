// Pools planes, and computes the gradients. oneDNN computes averages of f32. We compute maxima,
// because oneDNN 2.6 ignores a NaN in a window and returns the largest of the other elements
// (docs/decisions/0010).
#include <algorithm>
#include <limits>

#include "core/backend/native/onednn.h"
#include "core/backend/native/parts.h"
#include "core/backend/native/widened.h"

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

  // Calls f(row of the result, row of the input, offset to the first column, columns [begin, end)
  // of the result) so that each pair of elements occurs once. Result column j meets input column
  // first + j * stride[1]. A result meets its elements in their order.
  template <class F>
  void Each(F&& f) const {
    for (int64_t i = 0; i < to_rows; ++i) {
      for (int64_t r = 0; r < kernel[0]; ++r) {
        const int64_t row = i * stride[0] - padding[0] + r;
        if (row < 0 || row >= rows) continue;
        for (int64_t c = 0; c < kernel[1]; ++c) {
          const int64_t first = c - padding[1];
          const int64_t begin = first < 0 ? (-first + stride[1] - 1) / stride[1] : 0;
          const int64_t end = std::min(to_columns, (columns - first + stride[1] - 1) / stride[1]);
          if (begin < end) f(i, row, first, begin, end);
        }
      }
    }
  }
  int64_t in_plane() const { return rows * columns; }
  int64_t out_plane() const { return to_rows * to_columns; }
};

// Calls f with the step between columns, as a compile-time constant for the usual steps, because
// the compiler vectorizes only those.
template <class F>
void VisitStride(int64_t stride, F&& f) {
  if (stride == 1) return f(std::integral_constant<int64_t, 1>{});
  if (stride == 2) return f(std::integral_constant<int64_t, 2>{});
  f(stride);
}

template <class T>
void Pool(const Window& window, bool average, const T* plane, T* result) {
  std::fill_n(result, window.out_plane(), average ? T(0) : -std::numeric_limits<T>::infinity());
  window.Each([&](int64_t i, int64_t row, int64_t first, int64_t begin, int64_t end) {
    const T* from = plane + row * window.columns + first;
    T* __restrict to = result + i * window.to_columns;
    VisitStride(window.stride[1], [&](auto stride) {
      if (average) {
        for (int64_t j = begin; j < end; ++j) to[j] += from[j * stride];
        return;
      }
      for (int64_t j = begin; j < end; ++j) {
        const T value = from[j * stride], now = to[j];
        to[j] = ((value > now) | (value != value)) ? value : now;
      }
    });
  });
  const T share = T(1) / T(window.kernel[0] * window.kernel[1]);
  if (average)
    for (int64_t j = 0; j < window.out_plane(); ++j) result[j] *= share;
}

// A place as wide as T, because both are selected by the same comparison.
template <class T>
using PlaceIn = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;

// Finds, for each result, the place of the first element that equals the maximum.
template <class T>
void FindFirst(const Window& window, const T* plane, const T* largest, PlaceIn<T>* places) {
  using Position = PlaceIn<T>;
  std::fill_n(places, window.out_plane(), Position{-1});
  window.Each([&](int64_t i, int64_t row, int64_t first, int64_t begin, int64_t end) {
    const T* from = plane + row * window.columns + first;
    const T* best = largest + i * window.to_columns;
    Position* __restrict at = places + i * window.to_columns;
    const Position start = Position(row * window.columns + first);
    VisitStride(window.stride[1], [&](auto stride) {
      for (int64_t j = begin; j < end; ++j) {
        const T value = from[j * stride];
        const bool found = (at[j] < 0) & ((value == best[j]) | (value != value));
        at[j] = found ? start + Position(j) * Position(stride) : at[j];
      }
    });
  });
}

bool IsAverage(const Task& task) {
  return task.instruction.op == &op::avg_pool2d || task.instruction.op == &op::avg_pool2d_backward;
}

template <class T>
ThunkOr MakeForward(const Task& task) {
  return ThunkOf([window = Window(task, task.shape(0), task.result.shape),
                  average = IsAverage(task), &pool = task.pool, in = task.operands[0].slot,
                  out = task.result.slot](char* const* memory) {
    auto* from = reinterpret_cast<const T*>(memory[in]);
    auto* to = reinterpret_cast<T*>(memory[out]);
    pool.For(window.planes, GrainOfRows(window.in_plane()), [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p)
        Pool(window, average, from + p * window.in_plane(), to + p * window.out_plane());
    });
  });
}

template <class T>
void SpreadAverage(const Window& window, const T* gradient, T* result) {
  const T share = T(1) / T(window.kernel[0] * window.kernel[1]);
  window.Each([&](int64_t i, int64_t row, int64_t first, int64_t begin, int64_t end) {
    const T* from = gradient + i * window.to_columns;
    T* to = result + row * window.columns + first;
    for (int64_t j = begin; j < end; ++j) to[j * window.stride[1]] += from[j] * share;
  });
}

template <class T>
ThunkOr MakeBackward(const Task& task) {
  return ThunkOf([window = Window(task, task.shape(1), task.shape(0)), average = IsAverage(task),
                  &pool = task.pool, gradient_slot = task.operands[0].slot,
                  in = task.operands[1].slot, out = task.result.slot](char* const* memory) {
    auto* gradients = reinterpret_cast<const T*>(memory[gradient_slot]);
    auto* from = reinterpret_cast<const T*>(memory[in]);
    auto* to = reinterpret_cast<T*>(memory[out]);
    pool.For(window.planes, GrainOfRows(window.in_plane()), [&](int64_t begin, int64_t end) {
      std::vector<T> largest(size_t(average ? 0 : window.out_plane()));
      std::vector<PlaceIn<T>> places(largest.size());
      for (int64_t p = begin; p < end; ++p) {
        const T* gradient = gradients + p * window.out_plane();
        T* result = to + p * window.in_plane();
        std::fill_n(result, window.in_plane(), T(0));
        if (average) {
          SpreadAverage(window, gradient, result);
          continue;
        }
        const T* plane = from + p * window.in_plane();
        Pool(window, false, plane, largest.data());
        FindFirst(window, plane, largest.data(), places.data());
        for (int64_t j = 0; j < window.out_plane(); ++j) result[places[size_t(j)]] += gradient[j];
      }
    });
  });
}

// Averages planes as the channels of one image. oneDNN is seven times slower for images with few
// channels.
class Average final : public Cloned<Average, Primitives> {
 public:
  // Reads slot 0 and writes slot 1.
  Average(const Window& window, int64_t planes, bool forward) {
    const Memory::dims kernel{window.kernel[0], window.kernel[1]},
        stride{window.stride[0], window.stride[1]}, padding{window.padding[0], window.padding[1]};
    const TensorSlot input{forward ? 0 : 1,
                           {DType::kF32, {1, planes, window.rows, window.columns}}};
    const TensorSlot pooled{forward ? 1 : 0,
                            {DType::kF32, {1, planes, window.to_rows, window.to_columns}}};
    const auto average = dnnl::algorithm::pooling_avg_include_padding;
    using Forward = dnnl::pooling_forward;
    using Backward = dnnl::pooling_backward;
    const Forward::primitive_desc description(
        Forward::desc(dnnl::prop_kind::forward_training, average, Plain(input), Plain(pooled),
                      stride, kernel, padding, padding),
        WithOurScratch(), Engine());
    if (forward) {
      Add(description, {PlainArgument(DNNL_ARG_SRC, input)}, {PlainArgument(DNNL_ARG_DST, pooled)});
    } else {
      Add(Backward::primitive_desc(Backward::desc(average, Plain(input), Plain(pooled), stride,
                                                  kernel, padding, padding),
                                   WithOurScratch(), Engine(), description),
          {PlainArgument(DNNL_ARG_DIFF_DST, pooled)}, {PlainArgument(DNNL_ARG_DIFF_SRC, input)});
    }
  }
};

ThunkOr MakeAverage(const Task& task) {
  const bool forward = task.instruction.op == &op::avg_pool2d;
  const TensorSlot &from = task.operands[0], &to = task.result;
  const Window window =
      forward ? Window(task, from.shape, to.shape) : Window(task, to.shape, from.shape);
  return Guarded(Describe(task), [&]() -> ThunkOr {
    auto all = std::make_unique<Parts>(task.pool);
    const int64_t grains = window.planes * window.in_plane() / kGrain;
    const int64_t parts =
        std::clamp<int64_t>(grains, 1, std::min<int64_t>(task.pool.threads(), window.planes));
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t begin = window.planes * i / parts, end = window.planes * (i + 1) / parts;
      all->Add(std::make_unique<Average>(window, end - begin, forward),
               {{.slot = from.slot, .offset = begin * (from.shape.bytes() / window.planes)},
                {.slot = to.slot, .offset = begin * (to.shape.bytes() / window.planes)}});
    }
    return all;
  });
}

}  // namespace

ThunkOr MakePooling(const Task& task) {
  const DType dtype = task.result.shape.dtype;
  if (IsShort(dtype)) return MakeWidened(task, MakePooling);
  if (dtype == DType::kF32 && IsAverage(task)) return MakeAverage(task);
  const bool forward = task.operands.size() == 1;
  if (dtype == DType::kF32) return forward ? MakeForward<float>(task) : MakeBackward<float>(task);
  if (dtype == DType::kF64) return forward ? MakeForward<double>(task) : MakeBackward<double>(task);
  return Unsupported("{}: the native backend has no pooling for this type", Describe(task));
}

}  // namespace xlaprof::lazy
