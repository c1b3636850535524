// Computes convolutions and their gradients. oneDNN does so for f32, otherwise nested loops.
#include <algorithm>

#include "core/backend/native/onednn.h"
#include "core/backend/native/parts.h"
#include "core/backend/native/widened.h"

namespace xlaprof::lazy {
namespace {

enum class ConvolutionKind { kForward, kInput, kWeight };

ConvolutionKind KindOfConvolution(const Task& task) {
  const Op* op = task.instruction.op;
  return op == &op::convolution                  ? ConvolutionKind::kForward
         : op == &op::convolution_backward_input ? ConvolutionKind::kInput
                                                 : ConvolutionKind::kWeight;
}

// The input, weight and result of the task's convolution, or of the convolution whose gradient it
// is.
struct Tensors {
  TensorSlot input, weight, output;
  explicit Tensors(const Task& task) {
    switch (KindOfConvolution(task)) {
      case ConvolutionKind::kForward:
        input = task.operands[0], weight = task.operands[1], output = task.result;
        break;
      case ConvolutionKind::kInput:
        weight = task.operands[0], output = task.operands[1], input = task.result;
        break;
      case ConvolutionKind::kWeight:
        input = task.operands[0], output = task.operands[1], weight = task.result;
        break;
    }
  }
};

class Convolution final : public Cloned<Convolution, Primitives> {
 public:
  static ThunkOr Make(const Task& task) {
    return Guarded(Describe(task),
                   [&]() -> ThunkOr { return std::unique_ptr<Thunk>(new Convolution(task)); });
  }

 private:
  explicit Convolution(const Task& task) {
    const Tensors tensors(task);
    const Attributes& a = task.instruction.attributes;
    auto any = [](const TensorSlot& place) {
      return Memory::desc(Sizes(place), Memory::data_type::f32, Memory::format_tag::any);
    };
    const Memory::desc input = any(tensors.input), output = any(tensors.output);
    const Argument plain_weight = GroupedWeight(tensors.weight, a[6]);
    const Memory::desc weight(plain_weight.layout.dims(), Memory::data_type::f32,
                              Memory::format_tag::any);
    // oneDNN counts the elements that a dilation skips.
    const Memory::dims strides{a[0], a[1]}, padding{a[2], a[3]}, dilation{a[4] - 1, a[5] - 1};
    using Forward = dnnl::convolution_forward;
    using BackwardInput = dnnl::convolution_backward_data;
    using BackwardWeight = dnnl::convolution_backward_weights;
    const auto direct = dnnl::algorithm::convolution_direct;
    const Forward::primitive_desc forward(
        Forward::desc(dnnl::prop_kind::forward_training, direct, input, weight, output, strides,
                      dilation, padding, padding),
        WithOurScratch(), Engine());
    switch (KindOfConvolution(task)) {
      case ConvolutionKind::kForward:
        Add(forward, {PlainArgument(DNNL_ARG_SRC, tensors.input), plain_weight},
            {PlainArgument(DNNL_ARG_DST, tensors.output)});
        break;
      case ConvolutionKind::kInput:
        Add(BackwardInput::primitive_desc(BackwardInput::desc(direct, input, weight, output,
                                                              strides, dilation, padding, padding),
                                          WithOurScratch(), Engine(), forward),
            {plain_weight, PlainArgument(DNNL_ARG_DIFF_DST, tensors.output)},
            {PlainArgument(DNNL_ARG_DIFF_SRC, tensors.input)});
        break;
      case ConvolutionKind::kWeight:
        Add(BackwardWeight::primitive_desc(
                BackwardWeight::desc(direct, input, weight, output, strides, dilation, padding,
                                     padding),
                WithOurScratch(), Engine(), forward),
            {PlainArgument(DNNL_ARG_SRC, tensors.input),
             PlainArgument(DNNL_ARG_DIFF_DST, tensors.output)},
            {{DNNL_ARG_DIFF_WEIGHTS, plain_weight.layout, plain_weight.source}});
        break;
    }
  }

  // Returns the weight as oneDNN takes it: with a dimension for the groups if there are several.
  static Argument GroupedWeight(const TensorSlot& weight, int64_t groups) {
    Argument argument = PlainArgument(DNNL_ARG_WEIGHTS, weight);
    if (groups == 1) return argument;
    const Dims& sizes = weight.shape.dims;
    argument.layout = Memory::desc({groups, sizes[0] / groups, sizes[1], sizes[2], sizes[3]},
                                   Memory::data_type::f32, Memory::format_tag::abcde);
    return argument;
  }
};

// Divides the images of a batch among the threads. Adds up gradients of the weight at the end.
class ByImages final : public Cloned<ByImages, Parts> {
 public:
  static ThunkOr Make(const Task& task, int64_t images) {
    auto all = std::unique_ptr<ByImages>(new ByImages(task));
    const int64_t parts = std::min<int64_t>(task.pool.threads(), images);
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t begin = images * i / parts, end = images * (i + 1) / parts;
      Instruction it = task.instruction;
      Task part{
          .instruction = it, .operands = task.operands, .result = task.result, .pool = task.pool};
      Windows windows;
      for (size_t k = 0; k < 3; ++k) {
        TensorSlot& place = k < 2 ? part.operands[k] : part.result;
        Window& window = windows.emplace_back(Window{.slot = place.slot});
        place.slot = int32_t(k);
        if (k == all->weight_) {
          // The first part writes to the result, to which the others are added.
          if (k == 2 && i > 0) window = {.bytes = place.shape.bytes()};
          continue;
        }
        window.offset = begin * (place.shape.bytes() / images);
        place.shape.dims[0] = end - begin;
      }
      it.shape = part.result.shape;
      XP_TRY(std::unique_ptr<Thunk> thunk, Convolution::Make(part));
      all->Add(std::move(thunk), std::move(windows));
    }
    return all;
  }

  void Run(char* const* memory) override {
    Parts::Run(memory);
    if (weight_ != 2) return;
    const auto add = ThisCpusLoops().accumulate[size_t(Reduction::kSum)][size_t(Computed::kF32)];
    for (size_t i = 1; i < parts(); ++i) add(At(i, 2), At(0, 2), weight_elements_);
  }

 private:
  explicit ByImages(const Task& task)
      : Cloned(task.pool),
        weight_(KindOfConvolution(task) == ConvolutionKind::kForward ? 1
                : KindOfConvolution(task) == ConvolutionKind::kInput ? 0
                                                                     : 2),
        weight_elements_(Tensors(task).weight.shape.elements()) {}

  const size_t weight_;  // index of the weight's window, of three
  const int64_t weight_elements_;
};

// This many operations are worth another thread.
constexpr double kWorthSharing = 4e6;

// Computes f64. One loop serves all three kinds: each reads two of the tensors and adds to the
// third.
ThunkOr MakeSimple(const Task& task) {
  const Tensors tensors(task);
  const ConvolutionKind kind = KindOfConvolution(task);
  const Attributes a = task.instruction.attributes;
  return ThunkOf(
      [=, bytes = task.result.shape.bytes(), result = task.result.slot](char* const* memory) {
        std::memset(memory[result], 0, size_t(bytes));
        auto* x = reinterpret_cast<double*>(memory[tensors.input.slot]);
        auto* w = reinterpret_cast<double*>(memory[tensors.weight.slot]);
        auto* y = reinterpret_cast<double*>(memory[tensors.output.slot]);
        const Dims &in = tensors.input.shape.dims, &window = tensors.weight.shape.dims,
                   &out = tensors.output.shape.dims;
        const int64_t places = out[2] * out[3], results = out[1] / a[6];  // of a group
        for (int64_t plane = 0; plane < out[0] * out[1]; ++plane) {
          const int64_t image = plane / out[1], to = plane % out[1];
          for (int64_t from = 0; from < window[1]; ++from) {
            const int64_t channel = to / results * window[1] + from;
            double* x_plane = x + (image * in[1] + channel) * in[2] * in[3];
            double* w_plane = w + (to * window[1] + from) * window[2] * window[3];
            for (int64_t place = 0; place < places; ++place) {
              double& y_at = y[plane * places + place];
              for (int64_t at = 0; at < window[2] * window[3]; ++at) {
                const int64_t row = place / out[3] * a[0] - a[2] + at / window[3] * a[4];
                const int64_t column = place % out[3] * a[1] - a[3] + at % window[3] * a[5];
                if (row < 0 || row >= in[2] || column < 0 || column >= in[3]) continue;
                double& x_at = x_plane[row * in[3] + column];
                if (kind == ConvolutionKind::kForward) y_at += x_at * w_plane[at];
                if (kind == ConvolutionKind::kInput) x_at += y_at * w_plane[at];
                if (kind == ConvolutionKind::kWeight) w_plane[at] += x_at * y_at;
              }
            }
          }
        }
      });
}

}  // namespace

ThunkOr MakeConvolution(const Task& task) {
  const DType dtype = task.result.shape.dtype;
  if (IsShort(dtype)) return MakeWidened(task, MakeConvolution);
  if (task.shape(0).elements() == 0 || task.shape(1).elements() == 0)
    return ThunkOf([out = task.result.slot, bytes = task.result.shape.bytes()](
                       char* const* memory) { std::memset(memory[out], 0, size_t(bytes)); });
  if (dtype == DType::kF32) {
    const Tensors tensors(task);
    const Dims& window = tensors.weight.shape.dims;
    const double flops =
        2.0 * double(tensors.output.shape.elements() * window[1] * window[2] * window[3]);
    const int64_t images = tensors.input.shape.dims[0];
    const bool shared = task.pool.threads() > 1 && images > 1 && flops > kWorthSharing;
    return shared ? ByImages::Make(task, images) : Convolution::Make(task);
  }
  if (dtype == DType::kF64) return MakeSimple(task);
  return Unsupported("{}: the native backend has no convolution for this type", Describe(task));
}

}  // namespace xlaprof::lazy
