#include <numeric>

#include "core/trace/emit.h"
#include "core/trace/functions.h"
#include "core/trace/wide.h"

namespace xlaprof::lazy {
namespace {

// The batch's mean and biased variance of each channel.
struct Statistics {
  Tensor mean, variance;
};

// Normalizes by the batch's statistics.
Tensor Train(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps,
             Statistics* batch) {
  auto output = [&](int64_t place) {
    return Emit(op::native_batch_norm, {x, weight, bias}, {AttributeOf(eps), place});
  };
  Tensor out = output(0);
  *batch = {output(1), output(2)};
  if (!NeedsGrad({x, weight, bias})) return out;
  const bool needed[] = {x.requires_grad(), weight.requires_grad(), bias.requires_grad()};
  return Differentiable(out, {x, weight, bias},
                        [=, x = Saved(x), weight = Saved(weight), mean = Saved(batch->mean),
                         variance = Saved(batch->variance)](const Tensor& grad) {
                          Grads grads(3);
                          for (size_t i = 0; i < 3; ++i) {
                            if (needed[i])
                              grads[i] =
                                  Emit(op::native_batch_norm_backward,
                                       {grad, x.get(), weight.get(), mean.get(), variance.get()},
                                       {AttributeOf(eps), int64_t(i)});
                          }
                          return grads;
                        });
}

// Normalizes by given statistics, which take no part in the gradient.
Tensor Infer(const Tensor& x, const Tensor& weight, const Tensor& bias, const Tensor& mean,
             const Tensor& variance, double eps) {
  Tensor out =
      Emit(op::batch_norm_inference, {x, weight, bias, mean, variance}, {AttributeOf(eps)});
  if (!NeedsGrad({x, weight, bias})) return out;
  const bool to_x = x.requires_grad(), to_weight = weight.requires_grad(),
             to_bias = bias.requires_grad();
  return Differentiable(out, {x, weight, bias},
                        [=, x = Saved(x), weight = Saved(weight), mean = Saved(mean),
                         variance = Saved(variance)](const Tensor& grad) {
                          const Tensor in = x.get(), scale = rsqrt(variance.get() + eps);
                          Dims sides(size_t(in.dim()), 1), others(size_t(in.dim()) - 1);
                          sides[1] = in.size(1);
                          std::iota(others.begin() + 1, others.end(), 2);  // all but the channels
                          auto along = [&] {
                            return sum(grad * (in - mean.get().view(sides)), others);
                          };
                          return Grads{to_x ? grad * (scale * weight.get()).view(sides) : Tensor(),
                                       to_weight ? along() * scale : Tensor(),
                                       to_bias ? sum(grad, others) : Tensor()};
                        });
}

// Returns the type in which `x` is normalized.
DType NormalizedIn(const Tensor& x, const Tensor& weight) {
  const DType type = weight.defined() ? Promote(x.dtype(), weight.dtype()) : x.dtype();
  return IsNarrow(type) ? DType::kF32 : type;
}

}  // namespace

Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var, const Tensor& weight,
                  const Tensor& bias, bool training, double momentum, double eps, Where where) {
  OpCall call(where);
  const DType type = NormalizedIn(x, weight);
  auto given = [&](const Tensor& parameter, double value) {
    return parameter.defined() ? parameter.to(type) : full({x.size(1)}, value, type, x.device());
  };
  const Tensor in = x.to(type), scale = given(weight, 1), shift = given(bias, 0);
  if (!training && !(running_mean.defined() && running_var.defined()))
    RaiseHere("batch_norm in evaluation: there is no running mean and variance");
  if (!training)
    return Infer(in, scale, shift, running_mean.to(type), running_var.to(type), eps).to(x.dtype());
  const int64_t count = x.numel() / std::max<int64_t>(1, scale.numel());
  if (count == 1) RaiseHere("batch_norm in training: a single value per channel has no variance");
  Statistics batch;
  const Tensor out = Train(in, scale, shift, eps, &batch);
  if (running_mean.defined()) {
    NoGrad no_grad;
    // The running variance is the unbiased one, that of the population from which the batch was
    // drawn.
    const double unbiased = double(count) / double(count - 1);
    running_mean.mul_(1 - momentum).add_(batch.mean, momentum);
    running_var.mul_(1 - momentum).add_(batch.variance, momentum * unbiased);
  }
  return out.to(x.dtype());
}

Tensor group_norm(const Tensor& x, int64_t num_groups, const Tensor& weight, const Tensor& bias,
                  double eps, Where where) {
  OpCall call(where);
  const Dims sizes = x.sizes();
  if (sizes.size() < 2 || num_groups < 1 || sizes[1] % num_groups != 0) {
    RaiseHere("aten::group_norm({}): the channels cannot be divided into {} equal groups",
              TextOf(x), num_groups);
  }
  if (x.numel() <= sizes[0] * num_groups)
    RaiseHere("aten::group_norm({}): {} groups with a single value each have no variance",
              TextOf(x), num_groups);
  // The groups of all elements of the batch are the channels of one element.
  const Tensor in = x.to(NormalizedIn(x, weight));
  const Tensor groups = in.view({1, sizes[0] * num_groups, -1});
  Tensor out = batch_norm(groups, {}, {}, {}, {}, /*training=*/true, 0, eps).view(sizes);
  Dims channels(sizes.size(), 1);
  channels[1] = sizes[1];
  if (weight.defined()) out = out * weight.view(channels);
  if (bias.defined()) out = out + bias.view(channels);
  return out.to(x.dtype());
}

}  // namespace xlaprof::lazy
