#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Dims AllBut(int64_t rank, int64_t dim) {
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != dim) dims.push_back(i);
  }
  return dims;
}

// Clamps an index. XLA's gather does so by itself; its scatter skips indices out of range.
Value InRange(Builder& b, Value index, int64_t size) {
  const Type type = b.TypeOf(index);
  if (type.elements() == 0) return index;
  return b.Binary("minimum", b.Binary("maximum", index, b.Splat(0, type)),
                  b.Splat(double(size - 1), type));
}

// Returns, for each element of `index`, the full place that it refers to: its own place, except in
// `dim`.
Value Places(Builder& b, Value index, int64_t dim) {
  const Type type = b.TypeOf(index);
  Type one = type;
  one.dims.push_back(1);
  Type all = type;
  all.dims.push_back(type.rank());
  Instruction joined{
      .kind = Kind::kConcatenate, .name = "concatenate", .type = all, .lists = {{type.rank()}}};
  for (int64_t i = 0; i < type.rank(); ++i)
    joined.operands.push_back(i == dim ? b.Reshape(index, one.dims) : b.Iota(one, i));
  return b.Add(std::move(joined));
}

Value Column(Builder& b, Value index) { return b.Reshape(index, {b.TypeOf(index).dims[0], 1}); }

Value Gathered(const Call& call, Value places, std::vector<Dims> lists) {
  // For an empty result XLA would require empty slices.
  if (call.type.elements() == 0) return call.b.Splat(0, call.type);
  return call.b.Add({.kind = Kind::kGather,
                     .name = "gather",
                     .type = call.type,
                     .operands = {call[0], places},
                     .lists = std::move(lists)});
}

Value Scattered(const Call& call, Value places, Value updates, std::vector<Dims> lists) {
  return call.b.Add({.kind = Kind::kScatter,
                     .name = "scatter",
                     .type = call.type,
                     .operands = {call[0], places, updates},
                     .lists = std::move(lists),
                     .combine = "add"});
}

Value IndexSelect(const Call& call) {
  const int64_t dim = call.attributes[0];
  Dims sizes = call.TypeOf(0).dims;
  sizes[size_t(dim)] = 1;
  return Gathered(call, Column(call.b, call[1]),
                  {AllBut(call.type.rank(), dim), {dim}, {dim}, sizes});
}

Value Gather(const Call& call) {
  const Dims all = AllBut(call.type.rank(), -1);
  return Gathered(call, Places(call.b, call[1], call.attributes[0]),
                  {{}, all, all, Dims(all.size(), 1)});
}

Value IndexAdd(const Call& call) {
  const int64_t dim = call.attributes[0];
  const Value index = InRange(call.b, call[1], call.type.dims[size_t(dim)]);
  return Scattered(call, Column(call.b, index), call[2],
                   {AllBut(call.type.rank(), dim), {dim}, {dim}});
}

Value ScatterAdd(const Call& call) {
  Builder& b = call.b;
  const int64_t dim = call.attributes[0];
  const Dims all = AllBut(call.type.rank(), -1), used = call.TypeOf(1).dims;
  Value from = call[2];
  if (call.TypeOf(2).dims != used) {
    from = b.Add({.kind = Kind::kSlice,
                  .name = "slice",
                  .type = {call.type.element, used},
                  .operands = {from},
                  .lists = {Dims(used.size(), 0), used, Dims(used.size(), 1)}});
  }
  const Value index = InRange(b, call[1], call.type.dims[size_t(dim)]);
  return Scattered(call, Places(b, index, dim), from, {{}, all, all});
}

Value Arange(const Call& call) {
  Builder& b = call.b;
  const Type counted{IsFloat(call.type.element) ? Element::kF64 : Element::kI64, call.type.dims};
  const Value steps =
      b.Binary("multiply", b.Iota(counted, 0), b.Splat(RealOf(call.attributes[1]), counted));
  return b.Convert(b.Binary("add", steps, b.Splat(RealOf(call.attributes[0]), counted)),
                   call.type.element);
}

}  // namespace

void AddIndexingRules(Rules* rules) {
  rules->insert({{&op::index_select, IndexSelect},
                 {&op::gather, Gather},
                 {&op::scatter_add, ScatterAdd},
                 {&op::index_add, IndexAdd},
                 {&op::arange, Arange}});
}

}  // namespace xlaprof::lazy::xla
