#include "core/ir/xla/builder_internal.h"

namespace xlaprof::lazy::xla {
namespace {

std::string_view CombineOf(int64_t reduction, Element element) {
  const bool truth = element == Element::kBool;
  switch (ReduceOp(reduction)) {
    case ReduceOp::kSum:
      return truth ? "or" : "add";
    case ReduceOp::kMul:
      return "multiply";
    case ReduceOp::kMin:
      return "minimum";
    case ReduceOp::kMax:
      break;
  }
  return "maximum";
}

// Makes a collective whose attributes name the ranks from index `first` on.
Value Add(const Call& call, std::string_view name, Value operand, size_t first, int64_t dim,
          std::string_view combine) {
  Dims ranks(call.attributes.begin() + int64_t(first) + 2, call.attributes.end());
  for (int64_t i = 0; ranks.size() < size_t(call.attributes[first]); ++i) ranks.push_back(i);
  return call.b.Add({.kind = Kind::kCollective,
                     .name = name,
                     .type = call.type,
                     .operands = {operand},
                     .lists = {std::move(ranks), {dim}},
                     .number = call.attributes[first + 1],
                     .combine = combine});
}

Value AllReduce(const Call& call) {
  return Add(call, "all_reduce", call[0], 1, -1,
             CombineOf(call.attributes[0], call.type.element));
}

Value AllGather(const Call& call) {
  return Add(call, "all_gather", call[0], 1, call.attributes[0], "");
}

Value ReduceScatter(const Call& call) {
  return Add(call, "reduce_scatter", call[0], 2, call.attributes[1],
             CombineOf(call.attributes[0], call.type.element));
}

// Gathers the slices from place * size on, by their indices. Each rank finds its place by
// comparing.
Value LocalPart(const Call& call) {
  Builder& b = call.b;
  const int64_t dim = call.attributes[0], ranks = call.attributes[1], group = call.attributes[2];
  const Value own = b.Add({.kind = Kind::kElementwise, .name = "replica_id",
                           .type = {Element::kU32, {}}});
  Value place = b.Constant(0, Element::kI64);
  for (int64_t i = 0; i < ranks; ++i) {
    const int64_t rank = call.attributes.size() > 3 ? call.attributes[size_t(3 + i)] : i;
    const Value is_own = b.Compare("EQ", own, b.Constant(double(rank), Element::kU32));
    place = b.Select(is_own, b.Constant(double(i % group), Element::kI64), place);
  }
  const int64_t size = call.type.dims[size_t(dim)];
  const Value begin = b.Binary("multiply", place, b.Constant(double(size), Element::kI64));
  const Type indices{Element::kI64, {size}};
  const Value at = b.Binary("add", b.Iota(indices, 0), b.BroadcastScalar(begin, indices));
  return IndexSelect({b, {call[0], at}, {dim}, call.type, nullptr});
}

// Sums the root's value and the zeros of all others, because not all versions of XLA broadcast.
Value Broadcast(const Call& call) {
  Builder& b = call.b;
  const Value rank = b.Add({.kind = Kind::kElementwise, .name = "replica_id",
                            .type = {Element::kU32, {}}});
  const Value root = b.Constant(double(call.attributes[0]), Element::kU32);
  const Value is_root = b.BroadcastScalar(b.Compare("EQ", rank, root),
                                          {Element::kBool, call.type.dims});
  const Value offered = b.Select(is_root, call[0], b.Splat(0, call.type));
  Dims ranks;
  for (int64_t i = 0; i < call.attributes[1]; ++i) ranks.push_back(i);
  return b.Add({.kind = Kind::kCollective,
                .name = "all_reduce",
                .type = call.type,
                .operands = {offered},
                .lists = {std::move(ranks), {-1}},
                .number = call.attributes[1],
                .combine = CombineOf(int64_t(ReduceOp::kSum), call.type.element)});
}

}  // namespace

void AddCollectiveRules(Rules* rules) {
  rules->insert({{&op::all_reduce, AllReduce},
                 {&op::all_gather, AllGather},
                 {&op::reduce_scatter, ReduceScatter},
                 {&op::collective_broadcast, Broadcast},
                 {&op::local_part, LocalPart}});
}

}  // namespace xlaprof::lazy::xla
