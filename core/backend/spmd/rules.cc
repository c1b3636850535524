#include "core/backend/spmd/rules.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <numeric>

namespace xlaprof::lazy {
namespace {

// Makes the rule of an instruction. At first all dimensions are whole.
struct Maker {
  Maker(const Program& program, const Instruction& instruction)
      : attributes(instruction.attributes),
        operands(program.OperandShapes(instruction)),
        to(instruction.shape) {
    for (const Shape* operand : operands)
      rule.operands.emplace_back(operand->dims.size(), DivisionRule::kWhole);
    rule.result.assign(to.dims.size(), DivisionRule::kWhole);
  }

  struct Place {
    size_t operand, dim;
  };
  using Places = std::initializer_list<Place>;
  int Add(Places places, std::optional<ReduceOp> combined = std::nullopt) {
    const int factor = int(rule.factors.size());
    rule.factors.push_back(combined);
    for (const Place& place : places) rule.operands[place.operand][place.dim] = factor;
    return factor;
  }
  // Adds a factor that is a dimension of the result and of operands.
  void Keep(size_t dim, Places places) { rule.result[dim] = Add(places); }
  // Adds a factor over which the result sums.
  void Sum(Places places) { Add(places, ReduceOp::kSum); }

  size_t dim(size_t attribute) const { return size_t(attributes[attribute]); }

  const Attributes& attributes;
  const absl::InlinedVector<const Shape*, 3> operands;
  const Shape& to;
  DivisionRule rule;
};

// Keeps all dimensions of operands that have those of the result, except the given ones.
void KeepAllBut(Maker& m, const Dims& whole) {
  for (size_t i = 0; i < m.to.dims.size(); ++i) {
    if (std::ranges::find(whole, int64_t(i)) != whole.end()) continue;
    m.Keep(i, {});
    for (auto& operand : m.rule.operands) operand[i] = m.rule.result[i];
  }
}

void Elementwise(Maker& m) { KeepAllBut(m, {}); }
// Is for operations along one dimension, the first attribute: cat, cumsum, slice_scatter.
void Along(Maker& m) { KeepAllBut(m, {m.attributes[0]}); }
void Flip(Maker& m) { KeepAllBut(m, {m.attributes.begin(), m.attributes.end()}); }

void Slice(Maker& m) {
  if (m.operands[0]->dims == m.to.dims && m.attributes[1] == 0)
    Elementwise(m);
  else
    Along(m);
}

void Pad(Maker& m) {
  Dims padded;
  for (size_t i = 0; i < m.to.dims.size(); ++i)
    if (m.attributes[1 + 2 * i] != 0 || m.attributes[2 + 2 * i] != 0) padded.push_back(int64_t(i));
  KeepAllBut(m, padded);
}

void Permute(Maker& m) {
  for (size_t i = 0; i < m.to.dims.size(); ++i) m.Keep(i, {{0, m.dim(i)}});
}

void Expand(Maker& m) {
  const Dims& from = m.operands[0]->dims;
  const size_t added = m.to.dims.size() - from.size();
  for (size_t i = 0; i < m.to.dims.size(); ++i) {
    m.Keep(i, {});
    if (i >= added && from[i - added] == m.to.dims[i])
      m.rule.operands[0][i - added] = m.rule.result[i];
  }
}

// Divides both sides into groups of dimensions with equal products. The first dimensions of a group
// are divided together, because their parts are the same elements.
void View(Maker& m) {
  const Dims &from = m.operands[0]->dims, &to = m.to.dims;
  if (m.to.elements() == 0) return;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    const size_t first_from = i, first_to = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= from[i++];
      else
        right *= to[j++];
    }
    const auto longest = [](const Dims& dims, size_t begin, size_t end) {
      while (begin + 1 < end && dims[begin] == 1) ++begin;
      return begin;
    };
    m.Keep(longest(to, first_to, j), {{0, longest(from, first_from, i)}});
  }
}

void MatrixProduct(Maker& m) {
  const size_t n = m.to.dims.size() - 2, k = n + 1;
  if (n == 1) m.Keep(0, {{0, 0}, {1, 0}});
  m.Keep(n, {{0, n}});
  m.Keep(k, {{1, k}});
  m.Sum({{0, k}, {1, n}});
}

constexpr size_t kGroups = 6;  // the place of a convolution's groups in its attributes

void Convolution(Maker& m) {
  m.Keep(0, {{0, 0}});
  if (m.attributes[kGroups] != 1) return;
  m.Keep(1, {{1, 0}});
  m.Sum({{0, 1}, {1, 1}});
}

void ConvolutionBackwardInput(Maker& m) {
  m.Keep(0, {{1, 0}});
  if (m.attributes[kGroups] != 1) return;
  m.Keep(1, {{0, 1}});
  m.Sum({{0, 0}, {1, 1}});
}

void ConvolutionBackwardWeight(Maker& m) {
  m.Sum({{0, 0}, {1, 0}});
  if (m.attributes[kGroups] != 1) return;
  m.Keep(0, {{1, 1}});
  m.Keep(1, {{0, 1}});
}

// Is for {keepdim, dimensions}. Without `combined`, the reduced dimensions stay whole.
void ReduceBy(Maker& m, std::optional<ReduceOp> combined) {
  const auto begin = m.attributes.begin() + 1, end = m.attributes.end();
  size_t next = 0;
  for (size_t i = 0; i < m.operands[0]->dims.size(); ++i) {
    if (std::find(begin, end, int64_t(i)) == end) {
      m.Keep(next++, {{0, i}});
      continue;
    }
    if (combined) m.Add({{0, i}}, combined);
    if (m.attributes[0] != 0) ++next;
  }
}
template <ReduceOp kCombined>
void Reduction(Maker& m) {
  ReduceBy(m, kCombined);
}
void ArgMax(Maker& m) { ReduceBy(m, std::nullopt); }

// Keeps dimensions of indices and of what they index, except `dim`. Elements of different places
// would meet if the sizes differed.
void KeepAround(Maker& m, size_t dim, size_t operands) {
  for (size_t i = 0; i < m.to.dims.size(); ++i) {
    bool fits = i != dim;
    for (size_t k = 0; k < operands; ++k) fits = fits && m.operands[k]->dims[i] == m.to.dims[i];
    if (!fits) continue;
    m.Keep(i, {});
    for (size_t k = 0; k < operands; ++k) m.rule.operands[k][i] = m.rule.result[i];
  }
}

void IndexSelect(Maker& m) {
  KeepAround(m, m.dim(0), 1);
  m.Keep(m.dim(0), {{1, 0}});
}
void Gather(Maker& m) {
  KeepAround(m, m.dim(0), 2);
  m.Keep(m.dim(0), {{1, m.dim(0)}});
}
void Scatter(Maker& m) { KeepAround(m, m.dim(0), 3); }
// Adds a factor for the elements that are added to those of operand 0, along a dimension of the
// indices and of what is added. With 16 bits each addition rounds, so that their order matters.
void AddInParts(Maker& m, size_t index_dim) {
  const size_t dim = m.dim(0);
  if (m.operands[1]->dims[index_dim] != m.operands[2]->dims[dim]) return;
  if (IsFloat(m.to.dtype) && ByteSize(m.to.dtype) == 2) return;
  m.Sum({{1, index_dim}, {2, dim}});
  m.rule.added = 0;
}

void ScatterAdd(Maker& m) {
  Scatter(m);
  AddInParts(m, m.dim(0));
}
void IndexCopy(Maker& m) {
  const size_t dim = m.dim(0);
  for (size_t i = 0; i < m.to.dims.size(); ++i)
    if (i != dim) m.Keep(i, {{0, i}, {2, i}});
}
void IndexAdd(Maker& m) {
  IndexCopy(m);
  AddInParts(m, 0);
}

// Is for pooling, which works on planes.
void Planes(Maker& m) {
  Dims inside(m.to.dims.size() - 2);
  std::iota(inside.begin(), inside.end(), 2);
  KeepAllBut(m, inside);
}

// Divides only the channels, which each have statistics of their own: dimension 1 of `images`
// operands, and the only one of the others.
void Channels(Maker& m, size_t images) {
  const int factor = m.Add({});
  for (size_t i = 0; i < m.operands.size(); ++i) m.rule.operands[i][i < images ? 1 : 0] = factor;
  m.rule.result[m.to.dims.size() == 1 ? 0 : 1] = factor;
}
void BatchNorm(Maker& m) { Channels(m, 1); }
void BatchNormBackward(Maker& m) { Channels(m, 2); }
void BatchNormInference(Maker& m) {
  Channels(m, 1);
  for (size_t i = 0; i < m.to.dims.size(); ++i)
    if (i != 1) m.Keep(i, {{0, i}});
}

using Rule = void (*)(Maker&);

// The operations that are not here and not elementwise need whole operands: uniform, whose numbers
// depend on their places, and arange.
Rule FindRule(const Op* op) {
  static const absl::flat_hash_map<const Op*, Rule> rules = {
      {&op::expand, Expand},
      {&op::view, View},
      {&op::permute, Permute},
      {&op::slice, Slice},
      {&op::slice_scatter, Along},
      {&op::cat, Along},
      {&op::pad, Pad},
      {&op::flip, Flip},
      {&op::mm, MatrixProduct},
      {&op::bmm, MatrixProduct},
      {&op::convolution, Convolution},
      {&op::convolution_backward_input, ConvolutionBackwardInput},
      {&op::convolution_backward_weight, ConvolutionBackwardWeight},
      {&op::sum, Reduction<ReduceOp::kSum>},
      {&op::prod, Reduction<ReduceOp::kMul>},
      {&op::amax, Reduction<ReduceOp::kMax>},
      {&op::amin, Reduction<ReduceOp::kMin>},
      {&op::argmax, ArgMax},
      {&op::cumsum, Along},
      {&op::index_select, IndexSelect},
      {&op::gather, Gather},
      {&op::scatter, Scatter},
      {&op::scatter_add, ScatterAdd},
      {&op::index_copy, IndexCopy},
      {&op::index_add, IndexAdd},
      {&op::max_pool2d, Planes},
      {&op::max_pool2d_backward, Planes},
      {&op::avg_pool2d, Planes},
      {&op::avg_pool2d_backward, Planes},
      {&op::native_batch_norm, BatchNorm},
      {&op::native_batch_norm_backward, BatchNormBackward},
      {&op::batch_norm_inference, BatchNormInference},
  };
  if (op->elementwise) return Elementwise;
  const auto found = rules.find(op);
  return found == rules.end() ? nullptr : found->second;
}

}  // namespace

DivisionRule RuleOf(const Program& program, const Instruction& instruction) {
  Maker maker(program, instruction);
  if (const Rule rule = FindRule(instruction.op)) rule(maker);
  return std::move(maker.rule);
}

}  // namespace xlaprof::lazy
