#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Window WindowOf(const Attributes& attributes) {
  return {.size = {1, 1, attributes[0], attributes[1]},
          .stride = {1, 1, attributes[2], attributes[3]},
          .low = {0, 0, attributes[4], attributes[5]},
          .high = {0, 0, attributes[4], attributes[5]},
          .base_dilation = {},
          .window_dilation = {}};
}

Value MaxPool(const Call& call) {
  return call.b.ReduceWindow(call[0], call.b.Lowest(call.type.element), "maximum",
                             WindowOf(call.attributes), call.type);
}

// Numbers the elements of each plane, row by row.
Value PlacesInPlane(Builder& b, const Dims& sizes) {
  const Element element = sizes[2] * sizes[3] < INT32_MAX ? Element::kI32 : Element::kI64;
  const Type plane{element, {sizes[2], sizes[3]}};
  const Value row = b.Binary("multiply", b.Iota(plane, 0), b.Splat(double(sizes[3]), plane));
  return b.Broadcast(b.Binary("add", row, b.Iota(plane, 1)), {2, 3}, {element, sizes});
}

// Finds the place of each window's largest element, then goes through the places of the window: the
// element that is the chosen one gets the gradient. XLA's select_and_scatter cannot be used,
// because it picks another of equal elements when it goes through the columns first.
Value MaxPoolBackward(const Call& call) {
  Builder& b = call.b;
  const Window window = WindowOf(call.attributes);
  const Type input = call.TypeOf(1), pooled = call.TypeOf(0);
  const Element element = SumElement(input.element);
  const Value places = PlacesInPlane(b, input.dims);
  const Type chosen_type{b.TypeOf(places).element, pooled.dims};
  const Value chosen = b.ArgMax(call[1], places, window, pooled.dims);
  const Value padded =
      b.Pad(places, b.Constant(-1, chosen_type.element), window.low, window.high, Dims(4, 0));
  const Value gradient = b.Convert(call[0], element), zero = b.Constant(0, element);
  const Value zeros = b.BroadcastScalar(zero, {element, pooled.dims});
  Value total = -1;
  for (int64_t place = 0; place < window.size[2] * window.size[3]; ++place) {
    Dims start{0, 0, place / window.size[3], place % window.size[3]}, limit, low, high, interior;
    for (size_t i = 0; i < 4; ++i) {
      limit.push_back(start[i] + (pooled.dims[i] - 1) * window.stride[i] + 1);
      low.push_back(start[i] - window.low[i]);
      high.push_back(input.dims[i] + window.low[i] - limit[i]);
      interior.push_back(window.stride[i] - 1);
    }
    const Value here = b.Add({.kind = Kind::kSlice,
                              .name = "slice",
                              .type = chosen_type,
                              .operands = {padded},
                              .lists = {start, limit, window.stride}});
    const Value is_chosen = b.Compare("EQ", here, chosen);
    const Value part = b.Pad(b.Select(is_chosen, gradient, zeros), zero, low, high, interior);
    total = total < 0 ? part : b.Binary("add", total, part);
  }
  return b.Convert(total, input.element);
}

Value Average(const Call& call, Value from, const Window& window) {
  Builder& b = call.b;
  const Element element = SumElement(call.type.element);
  const Type type{element, call.type.dims};
  const Value sum =
      b.ReduceWindow(b.Convert(from, element), b.Constant(0, element), "add", window, type);
  const double count = double(call.attributes[0] * call.attributes[1]);
  return b.Convert(b.Binary("divide", sum, b.Splat(count, type)), call.type.element);
}

Value AvgPool(const Call& call) { return Average(call, call[0], WindowOf(call.attributes)); }

// Gives each element of the input the sum of the gradients of its windows. It sums windows of the
// same size over the gradient, whose elements are spread as far as the windows were apart.
Value AvgPoolBackward(const Call& call) {
  Builder& b = call.b;
  Window window = WindowOf(call.attributes);
  const Type gradient = call.TypeOf(0);
  Dims low(4, 0), high(4, 0), interior(4, 0);
  for (size_t i = 2; i < 4; ++i) {
    const int64_t spread = (gradient.dims[i] - 1) * window.stride[i] + 1;
    low[i] = window.size[i] - 1 - window.low[i];
    high[i] = call.type.dims[i] - spread - low[i] + window.size[i] - 1;
    interior[i] = window.stride[i] - 1;
    window.stride[i] = 1;
    window.low[i] = window.high[i] = 0;
  }
  return Average(call, b.Pad(call[0], b.Constant(0, gradient.element), low, high, interior),
                 window);
}

}  // namespace

void AddPoolingRules(Rules* rules) {
  rules->insert({{&op::max_pool2d, MaxPool},
                 {&op::max_pool2d_backward, MaxPoolBackward},
                 {&op::avg_pool2d, AvgPool},
                 {&op::avg_pool2d_backward, AvgPoolBackward}});
}

}  // namespace xlaprof::lazy::xla
