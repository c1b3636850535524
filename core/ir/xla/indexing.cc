// Lowers operations that read or write elements by index, and arange.
#include <numeric>

#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

Dims AllDims(int64_t rank) {
  Dims dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Dims AllDimsBut(int64_t rank, int64_t dim) {
  Dims dims = AllDims(rank);
  dims.erase(dims.begin() + dim);
  return dims;
}

// Clamps an index. XLA's gather does so by itself; its scatter skips indices out of range.
Value Clamped(Builder& b, Value index, int64_t size) {
  const Type type = b.TypeOf(index);
  if (type.elements() == 0) return index;
  return b.Binary("minimum", b.Binary("maximum", index, b.Splat(0, type)),
                  b.Splat(double(size - 1), type));
}

// Returns full index tuples for gather and scatter: each element's own coordinates, with coordinate
// `dim` replaced by its value.
Value FullIndices(Builder& b, Value index, int64_t dim) {
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

// The dimension numbers of XLA's gather and scatter, with XLA's names.
struct GatherDims {
  Dims offset_dims, collapsed_slice_dims, start_index_map, slice_sizes;
};
struct ScatterDims {
  Dims update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims;
};

Value Gathered(const Call& call, Value indices, const GatherDims& dims) {
  // For an empty result XLA would require empty slices.
  if (call.type.elements() == 0) return call.b.Splat(0, call.type);
  return call.b.Add({.kind = Kind::kGather,
                     .name = "gather",
                     .type = call.type,
                     .operands = {call[0], indices},
                     .lists = {dims.offset_dims, dims.collapsed_slice_dims, dims.start_index_map,
                               dims.slice_sizes}});
}

// `combine` is the operation on an old and a new element, or empty if the new one replaces the old.
Value Scattered(const Call& call, Value indices, Value updates, const ScatterDims& dims,
                std::string_view combine) {
  return call.b.Add({.kind = Kind::kScatter,
                     .name = "scatter",
                     .type = call.type,
                     .operands = {call[0], indices, updates},
                     .lists = {dims.update_window_dims, dims.inserted_window_dims,
                               dims.scatter_dims_to_operand_dims},
                     .combine = combine});
}

}  // namespace

Value IndexSelect(const Call& call) {
  const int64_t dim = call.attributes[0];
  Dims sizes = call.TypeOf(0).dims;
  sizes[size_t(dim)] = 1;
  return Gathered(call, Column(call.b, call[1]),
                  {.offset_dims = AllDimsBut(call.type.rank(), dim),
                   .collapsed_slice_dims = {dim},
                   .start_index_map = {dim},
                   .slice_sizes = sizes});
}

namespace {

Value Gather(const Call& call) {
  const Dims all = AllDims(call.type.rank());
  return Gathered(call, FullIndices(call.b, call[1], call.attributes[0]),
                  {.offset_dims = {},
                   .collapsed_slice_dims = all,
                   .start_index_map = all,
                   .slice_sizes = Dims(all.size(), 1)});
}

Value IndexChanged(const Call& call, std::string_view combine) {
  const int64_t dim = call.attributes[0];
  const Value index = Clamped(call.b, call[1], call.type.dims[size_t(dim)]);
  return Scattered(call, Column(call.b, index), call[2],
                   {.update_window_dims = AllDimsBut(call.type.rank(), dim),
                    .inserted_window_dims = {dim},
                    .scatter_dims_to_operand_dims = {dim}},
                   combine);
}

Value IndexAdd(const Call& call) { return IndexChanged(call, "add"); }
Value IndexCopy(const Call& call) { return IndexChanged(call, ""); }

Value ScatterChanged(const Call& call, std::string_view combine) {
  Builder& b = call.b;
  const int64_t dim = call.attributes[0];
  const Dims all = AllDims(call.type.rank()), used = call.TypeOf(1).dims;
  Value updates = call[2];
  if (call.TypeOf(2).dims != used) {
    updates = b.Add({.kind = Kind::kSlice,
                     .name = "slice",
                     .type = {call.type.element, used},
                     .operands = {updates},
                     .lists = {Dims(used.size(), 0), used, Dims(used.size(), 1)}});
  }
  const Value index = Clamped(b, call[1], call.type.dims[size_t(dim)]);
  return Scattered(
      call, FullIndices(b, index, dim), updates,
      {.update_window_dims = {}, .inserted_window_dims = all, .scatter_dims_to_operand_dims = all},
      combine);
}

Value ScatterAdd(const Call& call) { return ScatterChanged(call, "add"); }
Value Scatter(const Call& call) { return ScatterChanged(call, ""); }

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
                 {&op::scatter, Scatter},
                 {&op::scatter_add, ScatterAdd},
                 {&op::index_copy, IndexCopy},
                 {&op::index_add, IndexAdd},
                 {&op::arange, Arange}});
}

}  // namespace xlaprof::lazy::xla
