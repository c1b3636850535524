#include "core/nn/nn.h"

#include <random>

#include "core/exec/call.h"
#include "core/nn/init.h"

namespace xlaprof::lazy::nn {

Linear::Linear(int64_t in, int64_t out, Device& device)
    : weight(UniformByInputs({out, in}, in, device)), bias(UniformByInputs({out}, in, device)) {}
Tensor Linear::operator()(const Tensor& x, Where where) const {
  return linear(x, weight, bias, where);
}

Conv2d::Conv2d(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding,
               int64_t dilation, int64_t groups, Device& device)
    : weight(UniformByInputs({out, in / groups, kernel, kernel}, in / groups * kernel * kernel,
                             device)),
      bias(UniformByInputs({out}, in / groups * kernel * kernel, device)),
      stride(stride),
      padding(padding),
      dilation(dilation),
      groups(groups) {}
Tensor Conv2d::operator()(const Tensor& x, Where where) const {
  return conv2d(x, weight, bias, stride, padding, dilation, groups, where);
}

BatchNorm2d::BatchNorm2d(int64_t channels, Device& device)
    : weight(Filled(channels, 1, device)),
      bias(Filled(channels, 0, device)),
      running_mean(Filled(channels, 0, device).detach()),
      running_var(Filled(channels, 1, device).detach()) {}

Tensor BatchNorm2d::operator()(const Tensor& x, Where where) {
  return batch_norm(x, running_mean, running_var, weight, bias, training, momentum, eps, where);
}

Embedding::Embedding(int64_t count, int64_t width, Device& device)
    : weight(Drawn({count, width}, device, std::normal_distribution<double>())) {}
Tensor Embedding::operator()(const Tensor& index, Where where) const {
  return embedding(weight, index, where);
}

LayerNorm::LayerNorm(int64_t width, Device& device)
    : weight(Filled(width, 1, device)), bias(Filled(width, 0, device)) {}
Tensor LayerNorm::operator()(const Tensor& x, Where where) const {
  return layer_norm(x, weight, bias, 1e-5, where);
}

GroupNorm::GroupNorm(int64_t num_groups, int64_t num_channels, Device& device, Where where)
    : weight(Filled(num_channels, 1, device)),
      bias(Filled(num_channels, 0, device)),
      num_groups(num_groups) {
  Call call(where);
  if (num_groups < 1 || num_channels % num_groups != 0)
    RaiseHere("GroupNorm: {} channels cannot be divided into {} equal groups", num_channels,
              num_groups);
}
Tensor GroupNorm::operator()(const Tensor& x, Where where) const {
  return group_norm(x, num_groups, weight, bias, eps, where);
}

Tensor Dropout::operator()(const Tensor& x, Where where) const {
  return training ? dropout(x, p, where) : x;
}

Tensor ReLU::operator()(const Tensor& x, Where where) const { return relu(x, where); }
Tensor GELU::operator()(const Tensor& x, Where where) const { return gelu(x, approximate, where); }
Tensor SiLU::operator()(const Tensor& x, Where where) const {
  OpCall call(where);
  return x * sigmoid(x);
}
Tensor Flatten::operator()(const Tensor& x, Where where) const { return x.flatten(1, where); }
Tensor MaxPool2d::operator()(const Tensor& x, Where where) const {
  return max_pool2d(x, kernel, stride, padding, where);
}

}  // namespace xlaprof::lazy::nn
