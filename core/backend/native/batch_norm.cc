// Normalizes by channel, and computes the gradients. oneDNN does so for f32, otherwise it goes
// element by element.
#include <algorithm>
#include <cmath>

#include "core/backend/native/onednn.h"
#include "core/backend/native/parts.h"
#include "core/backend/native/widened.h"

namespace xlaprof::lazy {
namespace {

enum class BatchNormKind { kTrain, kBackward, kInfer };

BatchNormKind KindOfBatchNorm(const Task& task) {
  const Op* op = task.instruction.op;
  return op == &op::native_batch_norm            ? BatchNormKind::kTrain
         : op == &op::native_batch_norm_backward ? BatchNormKind::kBackward
                                                 : BatchNormKind::kInfer;
}

struct Extent {
  int64_t images, channels, plane;  // plane: elements per channel of an image

  explicit Extent(const Shape& x)
      : images(x.dims[0]), channels(x.dims[1]), plane(x.elements() / (images * channels)) {}
};

// oneDNN's kernels take this many channels at once, side by side for each place of an image.
constexpr int64_t kChannelBlock = 8;

// Normalizes some of the channels. Its slots are the operands, then the outputs that exist.
class Channels final : public Cloned<Channels, Primitives> {
 public:
  Channels(const Task& task, const Extent& extent, int64_t channels)
      : channel_({channels}, Memory::data_type::f32, Memory::format_tag::a),
        pair_({2, channels}, Memory::data_type::f32, Memory::format_tag::ab) {
    const Memory::dims dims{extent.images, channels, 1, extent.plane};
    const Memory::desc plain(
        dims, Memory::data_type::f32,
        Memory::dims{extent.channels * extent.plane, extent.plane, extent.plane, 1});
    const Memory::desc x(dims, Memory::data_type::f32, Memory::format_tag::nChw8c);
    const float eps = float(RealOf(task.instruction.attributes[0]));
    using Flags = dnnl::normalization_flags;
    using Forward = dnnl::batch_normalization_forward;
    using Backward = dnnl::batch_normalization_backward;
    using Propagation = dnnl::prop_kind;
    const Flags scaled = Flags::use_scale_shift;
    auto forward = [&](Propagation propagation, Flags flags) {
      return Forward::primitive_desc(Forward::desc(propagation, x, eps, flags), WithOurScratch(),
                                     Engine());
    };
    const int32_t outputs = int32_t(task.operands.size());
    // oneDNN computes every output, so one that nobody needs goes to scratch memory.
    auto output = [&](int number, const Memory::desc& layout, const Memory::desc& made, int i) {
      const TensorSlot& place = i == 0 ? task.result : task.others[size_t(i - 1)];
      return place.slot >= 0 ? Argument{number, layout, {outputs + i}}
                             : Argument{number, made, Scratch(made.get_size())};
    };
    const BatchNormKind kind = KindOfBatchNorm(task);
    const Argument scale =
        kind == BatchNormKind::kBackward ? ScaleAndShift(2, -1) : ScaleAndShift(1, 2);
    switch (kind) {
      case BatchNormKind::kTrain:
        Add(forward(Propagation::forward_training, scaled), {{DNNL_ARG_SRC, plain, {0}}, scale},
            {output(DNNL_ARG_DST, plain, x, 0), output(DNNL_ARG_MEAN, channel_, channel_, 1),
             output(DNNL_ARG_VARIANCE, channel_, channel_, 2)});
        break;
      case BatchNormKind::kInfer:
        Add(forward(Propagation::forward_inference, scaled | Flags::use_global_stats),
            {{DNNL_ARG_SRC, plain, {0}},
             scale,
             {DNNL_ARG_MEAN, channel_, {3}},
             {DNNL_ARG_VARIANCE, channel_, {4}}},
            {output(DNNL_ARG_DST, plain, x, 0)});
        break;
      case BatchNormKind::kBackward: {
        const Source both = Scratch(pair_.get_size());
        Add(Backward::primitive_desc(Backward::desc(Propagation::backward, x, x, eps, scaled),
                                     WithOurScratch(), Engine(),
                                     forward(Propagation::forward_training, scaled)),
            {{DNNL_ARG_DIFF_DST, plain, {0}},
             {DNNL_ARG_SRC, plain, {1}},
             scale,
             {DNNL_ARG_MEAN, channel_, {3}},
             {DNNL_ARG_VARIANCE, channel_, {4}}},
            {output(DNNL_ARG_DIFF_SRC, plain, x, 0), {DNNL_ARG_DIFF_SCALE_SHIFT, pair_, both}});
        if (task.others[0].slot >= 0) Reorder(channel_, both, channel_, {outputs + 1});
        if (task.others[1].slot >= 0) Reorder(channel_, SecondOf(both), channel_, {outputs + 2});
        break;
      }
    }
  }

 private:
  // Puts scale and shift into one tensor, as oneDNN's fast kernels expect. A gradient needs no
  // shift.
  Argument ScaleAndShift(int32_t scale_slot, int32_t shift_slot) {
    const Source both = Scratch(pair_.get_size());
    Reorder(channel_, {scale_slot}, channel_, both);
    if (shift_slot >= 0) Reorder(channel_, {shift_slot}, channel_, SecondOf(both));
    return {DNNL_ARG_SCALE_SHIFT, pair_, both};
  }
  Source SecondOf(const Source& pair) const {
    return {pair.slot, pair.offset + int64_t(channel_.get_size())};
  }

  const Memory::desc channel_, pair_;  // one and two numbers per channel
};

// Divides the channels among the threads.
ThunkOr MakeF32(const Task& task, const Extent& extent) {
  return Guarded(Describe(task), [&]() -> ThunkOr {
    auto all = std::make_unique<Parts>(task.pool);
    const int64_t blocks = (extent.channels + kChannelBlock - 1) / kChannelBlock;
    const int64_t grains = task.shape(0).elements() / kGrain;
    const int64_t parts =
        std::clamp<int64_t>(grains, 1, std::min<int64_t>(task.pool.threads(), blocks));
    for (int64_t i = 0; i < parts; ++i) {
      const int64_t begin = blocks * i / parts * kChannelBlock;
      const int64_t end = std::min(blocks * (i + 1) / parts * kChannelBlock, extent.channels);
      Parts::Windows windows;
      auto add = [&](const TensorSlot& place) {
        const int64_t channel = place.shape.rank() == 1 ? 1 : extent.plane;
        windows.push_back({.slot = place.slot, .offset = begin * channel * 4});
      };
      for (const TensorSlot& operand : task.operands) add(operand);
      add(task.result);
      for (const TensorSlot& other : task.others) add(other);
      all->Add(std::make_unique<Channels>(task, extent, end - begin), std::move(windows));
    }
    return all;
  });
}

// Normalizes f64, one channel at a time.
class Simple final : public Cloned<Simple> {
 public:
  Simple(const Task& task, const Extent& extent)
      : extent_(extent),
        kind_(KindOfBatchNorm(task)),
        eps_(RealOf(task.instruction.attributes[0])),
        pool_(task.pool) {
    for (const TensorSlot& operand : task.operands) in_.push_back(operand.slot);
    out_ = {task.result.slot};
    for (const TensorSlot& other : task.others) out_.push_back(other.slot);
  }

  void Run(char* const* memory) override {
    auto at = [&](int32_t slot) {
      return slot < 0 ? nullptr : reinterpret_cast<double*>(memory[slot]);
    };
    const double* in[5] = {};
    double* out[3] = {};
    for (size_t i = 0; i < in_.size(); ++i) in[i] = at(in_[i]);
    for (size_t i = 0; i < out_.size(); ++i) out[i] = at(out_[i]);
    pool_.For(extent_.channels, GrainOfRows(extent_.images * extent_.plane),
              [&](int64_t begin, int64_t end) {
                for (int64_t c = begin; c < end; ++c) Channel(in, out, c);
              });
  }

 private:
  // Calls f(place) for each element of a channel.
  template <class F>
  void Each(int64_t channel, F&& f) const {
    for (int64_t image = 0; image < extent_.images; ++image) {
      const int64_t first = (image * extent_.channels + channel) * extent_.plane;
      for (int64_t i = first; i < first + extent_.plane; ++i) f(i);
    }
  }
  template <class F>
  double Sum(int64_t channel, F&& f) const {
    double sum = 0;
    Each(channel, [&](int64_t i) { sum += f(i); });
    return sum;
  }

  void Channel(const double* const* in, double* const* out, int64_t c) const {
    const double count = double(extent_.images * extent_.plane);
    if (kind_ == BatchNormKind::kBackward) {
      const double *gradient = in[0], *x = in[1], mean = in[3][c];
      const double scale = 1 / std::sqrt(in[4][c] + eps_), factor = in[2][c] * scale;
      const double along = Sum(c, [&](int64_t i) { return gradient[i] * (x[i] - mean); }) * scale;
      const double sum = Sum(c, [&](int64_t i) { return gradient[i]; });
      if (out[1] != nullptr) out[1][c] = along;
      if (out[2] != nullptr) out[2][c] = sum;
      if (out[0] == nullptr) return;
      Each(c, [&](int64_t i) {
        const double normal = (x[i] - mean) * scale;
        out[0][i] = factor * (gradient[i] - (sum + normal * along) / count);
      });
      return;
    }
    const double* x = in[0];
    double mean = 0, variance = 0;
    if (kind_ == BatchNormKind::kInfer) {
      mean = in[3][c], variance = in[4][c];
    } else {
      mean = Sum(c, [&](int64_t i) { return x[i]; }) / count;
      variance = Sum(c, [&](int64_t i) { return (x[i] - mean) * (x[i] - mean); }) / count;
      if (out[1] != nullptr) out[1][c] = mean;
      if (out[2] != nullptr) out[2][c] = variance;
    }
    const double factor = in[1][c] / std::sqrt(variance + eps_);
    if (out[0] == nullptr) return;
    Each(c, [&](int64_t i) { out[0][i] = (x[i] - mean) * factor + in[2][c]; });
  }

  const Extent extent_;
  const BatchNormKind kind_;
  const double eps_;
  ThreadPool& pool_;
  absl::InlinedVector<int32_t, 5> in_, out_;
};

}  // namespace

ThunkOr MakeBatchNorm(const Task& task) {
  const DType dtype = task.shape(0).dtype;
  if (IsShort(dtype)) return MakeWidened(task, MakeBatchNorm);
  const Extent extent(task.shape(0));
  if (dtype == DType::kF32) return MakeF32(task, extent);
  return std::make_unique<Simple>(task, extent);
}

}  // namespace xlaprof::lazy
