#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Dims ListOf(const Attributes& attributes) { return {attributes.begin(), attributes.end()}; }

// HLO repeats only dimensions that the operand does not have, so dimensions of size 1 are removed
// first.
Value Expand(const Call& call) {
  const Dims from = call.TypeOf(0).dims;
  const size_t before = call.type.dims.size() - from.size();
  Dims kept, places;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != call.type.dims[before + i]) continue;
    kept.push_back(from[i]);
    places.push_back(int64_t(before + i));
  }
  return call.b.Broadcast(call.b.Reshape(call[0], kept), places, call.type);
}

Value View(const Call& call) { return call.b.Reshape(call[0], call.type.dims); }
Value Permute(const Call& call) { return call.b.Transpose(call[0], ListOf(call.attributes)); }

Value Slice(const Call& call) {
  const size_t dim = size_t(call.attributes[0]);
  Dims start(call.type.dims.size(), 0), limit = call.TypeOf(0).dims,
                                        stride(call.type.dims.size(), 1);
  start[dim] = call.attributes[1];
  limit[dim] = call.attributes[2];
  stride[dim] = call.attributes[3];
  return call.b.Add({.kind = Kind::kSlice,
                     .name = "slice",
                     .type = call.type,
                     .operands = {call[0]},
                     .lists = {start, limit, stride}});
}

// Spreads the replacing elements, and a mask of their places, over the whole.
Value SliceScatter(const Call& call) {
  Builder& b = call.b;
  const Type part = call.TypeOf(1);
  if (part.elements() == 0) return call[0];
  const size_t dim = size_t(call.attributes[0]), rank = part.dims.size();
  const int64_t step = call.attributes[3], covered = (part.dims[dim] - 1) * step + 1;
  Dims low(rank, 0), high(rank, 0), interior(rank, 0);
  low[dim] = call.attributes[1];
  high[dim] = call.type.dims[dim] - low[dim] - covered;
  interior[dim] = step - 1;
  const Value spread = b.Pad(call[1], b.Constant(0, part.element), low, high, interior);
  const Value mask = b.Pad(b.Splat(1, {Element::kBool, part.dims}), b.Constant(0, Element::kBool),
                           low, high, interior);
  return b.Select(mask, spread, call[0]);
}

Value Cat(const Call& call) {
  return call.b.Add({.kind = Kind::kConcatenate,
                     .name = "concatenate",
                     .type = call.type,
                     .operands = {call.operands.begin(), call.operands.end()},
                     .lists = {{call.attributes[0]}}});
}

Value Pad(const Call& call) {
  Dims low, high;
  for (size_t i = 0; i < call.type.dims.size(); ++i) {
    low.push_back(call.attributes[1 + 2 * i]);
    high.push_back(call.attributes[2 + 2 * i]);
  }
  const Value value = call.b.Constant(RealOf(call.attributes[0]), call.type.element);
  return call.b.Pad(call[0], value, low, high, Dims(low.size(), 0));
}

Value Flip(const Call& call) {
  return call.b.Add({.kind = Kind::kReverse,
                     .name = "reverse",
                     .type = call.type,
                     .operands = {call[0]},
                     .lists = {ListOf(call.attributes)}});
}

}  // namespace

void AddShapeRules(Rules* rules) {
  rules->insert({{&op::expand, Expand},
                 {&op::view, View},
                 {&op::permute, Permute},
                 {&op::slice, Slice},
                 {&op::slice_scatter, SliceScatter},
                 {&op::cat, Cat},
                 {&op::pad, Pad},
                 {&op::flip, Flip}});
}

}  // namespace xlaprof::lazy::xla
