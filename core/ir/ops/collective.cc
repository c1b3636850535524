#include "core/ir/ops/rules_internal.h"

namespace xlaprof::lazy::op {
namespace {

// Checks the attributes that say which ranks take part, of which the first has index `first`:
// the number of ranks, the size of a group, and the ranks group by group.
void ExpectGroups(const Attributes& attributes, size_t first) {
  ExpectAttributes(attributes, first + 2, /*more=*/true);
  const int64_t ranks = attributes[first], group = attributes[first + 1];
  if (ranks < 1 || group < 1 || ranks % group != 0)
    Raise("{} ranks cannot be divided into groups of {}", ranks, group);
  const size_t listed = attributes.size() - first - 2;
  if (listed == 0 && group == ranks) return;
  if (listed != size_t(ranks)) Raise("groups contain {} ranks, not {}", listed, ranks);
  std::vector<bool> known(static_cast<size_t>(ranks));
  for (size_t i = first + 2; i < attributes.size(); ++i) {
    const int64_t rank = attributes[i];
    if (rank < 0 || rank >= ranks) Raise("a group contains rank {}, but there are {}", rank, ranks);
    if (known[size_t(rank)]) Raise("rank {} is in a group twice, or in two groups", rank);
    known[size_t(rank)] = true;
  }
}

void ExpectReduction(const Shape& shape, int64_t kind) {
  if (kind < 0 || kind > int64_t(ReduceOp::kMax)) Raise("reduction {} does not exist", kind);
  ExpectNumbers(shape);
}

Shape AllReduce(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectGroups(attributes, 1);
  ExpectReduction(*operands[0], attributes[0]);
  return *operands[0];
}

Shape AllGather(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectGroups(attributes, 1);
  Shape to = *operands[0];
  to.dims[ExpectDimension(to, attributes[0])] *= attributes[2];
  if (!MayBeHeld(to.dims)) Raise("more elements than memory can hold");
  return to;
}

void DivideAmong(Shape* shape, int64_t dim, int64_t ranks) {
  int64_t& size = shape->dims[ExpectDimension(*shape, dim)];
  if (size % ranks != 0)
    Raise("size {} of dimension {} cannot be divided among {} ranks", size, dim, ranks);
  size /= ranks;
}

Shape ReduceScatter(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectGroups(attributes, 2);
  ExpectReduction(*operands[0], attributes[0]);
  Shape to = *operands[0];
  DivideAmong(&to, attributes[1], attributes[3]);
  return to;
}

Shape LocalPart(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectGroups(attributes, 1);
  Shape to = *operands[0];
  DivideAmong(&to, attributes[0], attributes[2]);
  return to;
}

Shape Broadcast(Shapes operands, const Attributes& attributes) {
  ExpectOperands(operands, 1);
  ExpectAttributes(attributes, 2);
  if (attributes[0] < 0 || attributes[0] >= attributes[1])
    Raise("there is no rank {}: there are {}", attributes[0], attributes[1]);
  return *operands[0];
}

double OnePerRank(Shapes operands, const Shape&, const Attributes& attributes) {
  return double(operands[0]->elements() * (attributes[2] - 1));
}

constexpr std::string_view kReduce[] = {"reduce_type", "ranks", "group_size", "groups..."};
constexpr std::string_view kGather[] = {"dim", "ranks", "group_size", "groups..."};
constexpr std::string_view kScatter[] = {"reduce_type", "dim", "ranks", "group_size", "groups..."};
constexpr std::string_view kRoot[] = {"root", "ranks"};

}  // namespace

constinit const Op all_reduce{"xla::all_reduce", AllReduce, kReduce, false, OnePerRank};
constinit const Op all_gather{"xla::all_gather", AllGather, kGather, false, NoFlops};
constinit const Op reduce_scatter{"xla::reduce_scatter", ReduceScatter, kScatter, false, NoFlops};
constinit const Op collective_broadcast{"xla::collective_broadcast", Broadcast, kRoot, false,
                                        NoFlops};
constinit const Op local_part{"xla::local_part", LocalPart, kGather, false, NoFlops};

}  // namespace xlaprof::lazy::op
