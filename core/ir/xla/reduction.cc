#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Dims Dimensions(const Call& call) { return {call.attributes.begin() + 1, call.attributes.end()}; }

Value Fold(const Call& call, std::string_view combine, double begin) {
  Builder& b = call.b;
  const Element element = SumElement(call.type.element);
  const Value folded =
      b.Reduce(b.Convert(call[0], element), b.Constant(begin, element), combine, Dimensions(call));
  return b.Reshape(b.Convert(folded, call.type.element), call.type.dims);
}

Value Sum(const Call& call) { return Fold(call, "add", 0); }
Value Prod(const Call& call) { return Fold(call, "multiply", 1); }

Value AMax(const Call& call) {
  Builder& b = call.b;
  return b.Reshape(b.Reduce(call[0], b.Lowest(call.type.element), "maximum", Dimensions(call)),
                   call.type.dims);
}

Value AMin(const Call& call) {
  Builder& b = call.b;
  return b.Reshape(b.Reduce(call[0], b.Highest(call.type.element), "minimum", Dimensions(call)),
                   call.type.dims);
}

// Sums windows that end at each element and begin before the first.
Value CumSum(const Call& call) {
  Builder& b = call.b;
  if (call.type.elements() == 0) return call[0];
  const size_t dim = size_t(call.attributes[0]), rank = call.type.dims.size();
  const Element element = SumElement(call.type.element);
  Window window{
      .size = Dims(rank, 1), .stride = Dims(rank, 1), .low = Dims(rank, 0), .high = Dims(rank, 0)};
  window.size[dim] = call.type.dims[dim];
  window.low[dim] = call.type.dims[dim] - 1;
  const Value sums = b.ReduceWindow(b.Convert(call[0], element), b.Constant(0, element), "add",
                                    std::move(window), {element, call.type.dims});
  return b.Convert(sums, call.type.element);
}

Value ArgMax(const Call& call) {
  Builder& b = call.b;
  const Dims dim = Dimensions(call);
  const Value places = b.Iota({Element::kI64, call.TypeOf(0).dims}, dim[0]);
  return b.Reshape(b.ArgMax(call[0], places, dim), call.type.dims);
}

}  // namespace

void AddReductionRules(Rules* rules) {
  rules->insert({{&op::sum, Sum},
                 {&op::prod, Prod},
                 {&op::amax, AMax},
                 {&op::amin, AMin},
                 {&op::argmax, ArgMax},
                 {&op::cumsum, CumSum}});
}

}  // namespace xlaprof::lazy::xla
