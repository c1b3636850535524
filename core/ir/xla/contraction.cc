#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Value Product(const Call& call) {
  return call.b.Add({.kind = Kind::kDot,
                     .name = "dot_general",
                     .type = call.type,
                     .operands = {call[0], call[1]},
                     .number = call.type.rank() - 2});
}

Value Convolve(const Call& call, std::string_view labels, Window window) {
  return call.b.Add({.kind = Kind::kConvolution,
                     .name = labels,
                     .type = call.type,
                     .operands = {call[0], call[1]},
                     .window = std::move(window)});
}

constexpr size_t kGroups = 6;  // the place of the number of groups in the attributes

Dims Two(const Attributes& attributes, size_t at) { return {attributes[at], attributes[at + 1]}; }

Value Convolution(const Call& call) {
  const Dims weight = call.TypeOf(1).dims, padding = Two(call.attributes, 2);
  return Convolve(call, "bf01_oi01->bf01",
                  {.size = {weight[2], weight[3]},
                   .stride = Two(call.attributes, 0),
                   .low = padding,
                   .high = padding,
                   .base_dilation = {1, 1},
                   .window_dilation = Two(call.attributes, 4),
                   .feature_groups = call.attributes[kGroups]});
}

// Convolves the gradient, its elements as far apart as the windows were, with the weight turned
// around. The operands swap places. The input's channels of all groups become one dimension.
Value BackwardInput(const Call& call) {
  const Dims weight = call.TypeOf(0).dims, gradient = call.TypeOf(1).dims;
  const int64_t groups = call.attributes[kGroups], results = weight[0] / groups;
  Window window{.size = {weight[2], weight[3]},
                .stride = {1, 1},
                .low = {},
                .high = {},
                .base_dilation = Two(call.attributes, 0),
                .window_dilation = Two(call.attributes, 4),
                .reversed = true,
                .feature_groups = groups};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t spread = (gradient[2 + i] - 1) * window.base_dilation[i] + 1;
    const int64_t reach = (window.size[i] - 1) * window.window_dilation[i];
    window.low.push_back(reach - call.attributes[2 + i]);
    window.high.push_back(call.type.dims[2 + i] - spread - window.low[i] + reach);
  }
  Value kernel = call[0];
  if (groups > 1) {
    kernel = call.b.Reshape(kernel, {groups, results, weight[1], weight[2], weight[3]});
    kernel = call.b.Transpose(kernel, {1, 0, 2, 3, 4});
    kernel = call.b.Reshape(kernel, {results, groups * weight[1], weight[2], weight[3]});
  }
  const std::vector<Value> operands{call[1], kernel};
  return Convolve({call.b, operands, call.attributes, call.type, call.all}, "bf01_io01->bf01",
                  std::move(window));
}

// Convolves the input with the gradient as a window. The channels are the batch, and the batch is
// summed over.
Value BackwardWeight(const Call& call) {
  const Dims input = call.TypeOf(0).dims, gradient = call.TypeOf(1).dims;
  Window window{.size = {gradient[2], gradient[3]},
                .stride = Two(call.attributes, 4),
                .low = Two(call.attributes, 2),
                .high = {},
                .base_dilation = {1, 1},
                .window_dilation = Two(call.attributes, 0),
                .batch_groups = call.attributes[kGroups]};
  for (size_t i = 0; i < 2; ++i) {
    const int64_t spread = (gradient[2 + i] - 1) * window.window_dilation[i] + 1;
    const int64_t reach = (call.type.dims[2 + i] - 1) * window.stride[i];
    window.high.push_back(reach + spread - input[2 + i] - window.low[i]);
  }
  return Convolve(call, "fb01_io01->fb01", std::move(window));
}

}  // namespace

void AddContractionRules(Rules* rules) {
  rules->insert({{&op::mm, Product},
                 {&op::bmm, Product},
                 {&op::convolution, Convolution},
                 {&op::convolution_backward_input, BackwardInput},
                 {&op::convolution_backward_weight, BackwardWeight}});
}

}  // namespace xlaprof::lazy::xla
