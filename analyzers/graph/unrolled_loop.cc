#include "analyzers/graph/unrolled_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "analyzers/policy.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns the number of the program's own inputs, by shape without layout.
std::map<std::string, int64_t, std::less<>> InputsByShape(const PrintedGraph& graph) {
  std::map<std::string, int64_t, std::less<>> inputs;
  for (const GraphNode& node : graph.nodes) {
    if (IsInput(node)) ++inputs[std::string(WithoutLayout(node.shape))];
  }
  return inputs;
}

// Returns the shape of a transposed matrix. A linear layer multiplies with its transposed weight.
std::string Transposed(const std::string& shape) {
  const std::optional<XlaShape> parsed = XlaShape::Parse(shape);
  if (!parsed || parsed->rank() != 2) return shape;
  return fmt::format("{}[{},{}]", parsed->element_type(), parsed->dimensions()[1],
                     parsed->dimensions()[0]);
}

// Multiplications that look alike: their line, and the shapes of what they multiply.
struct Product {
  std::string location;
  std::vector<std::string> shapes;
  auto operator<=>(const Product&) const = default;
};

// Returns whether the node is an operation that a turn of a loop may repeat.
bool IsOperation(const GraphNode& node) {
  return !node.Is(OpKind::kInput) && !IsConstant(node) &&
         (!node.Has(OpTrait::kNothing) || node.Is(OpKind::kCall));
}

// Returns whether the node has one element at most, as the learning rate or the number of a turn
// has.
bool IsOneNumber(const GraphNode& node) {
  const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
  return shape && !shape->is_tuple() &&
         std::ranges::all_of(shape->dimensions(), [](int64_t size) { return size <= 1; });
}

// Returns whether `count` operations are alike because each of `turns` turns has the same number of
// them. The first or the last turn may lack some.
bool IsInEachTurn(int64_t count, int64_t turns) {
  const int64_t per_turn = std::max<int64_t>(1, (count + turns / 2) / turns);
  return std::abs(count - per_turn * turns) <= turns / policy::kTurnsPerLack;
}

// The operations of a program that are alike: the same op at the same line, with a result of the
// same shape.
struct AlikeOperations {
  std::vector<size_t> group;         // by node: a number that alike operations share
  std::vector<int64_t> count;        // by node: the operations of its group; 0 if it is none
  std::map<int64_t, int64_t> nodes;  // by such a count: the operations that have it
  int64_t all = 0;                   // operations

  explicit AlikeOperations(const PrintedGraph& graph)
      : group(graph.nodes.size()), count(graph.nodes.size()) {
    std::map<std::tuple<std::string_view, std::string_view, std::string_view, std::string>, size_t>
        groups;
    std::vector<int64_t> sizes;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const GraphNode& node = graph.nodes[i];
      if (!IsOperation(node)) continue;
      const auto [known, is_new] = groups.try_emplace(
          {node.location, node.op, node.framework_op, std::string(WithoutLayout(node.shape))},
          sizes.size());
      if (is_new) sizes.push_back(0);
      group[i] = known->second;
      ++sizes[group[i]];
      ++all;
    }
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      if (!IsOperation(graph.nodes[i])) continue;
      count[i] = sizes[group[i]];
      ++nodes[count[i]];
    }
  }

  int64_t InTurns(int64_t turns) const {
    int64_t in_turns = 0;
    for (const auto& [number, of] : nodes) in_turns += IsInEachTurn(number, turns) ? of : 0;
    return in_turns;
  }

  std::vector<bool> AreInTurns(int64_t turns) const {
    std::vector<bool> are;
    for (const int64_t number : count) are.push_back(number > 0 && IsInEachTurn(number, turns));
    return are;
  }

  // Returns the number of turns that most operations show, the largest of similar ones; 0 if none
  // occurs `least` times.
  int64_t Turns(int64_t least) const {
    int64_t most = 0, turns = 0;
    for (auto one = nodes.lower_bound(least); one != nodes.end(); ++one)
      most = std::max(most, InTurns(one->first));
    for (auto one = nodes.lower_bound(least); one != nodes.end(); ++one) {
      if (double(InTurns(one->first)) >= policy::kSimilarOperations * double(most))
        turns = one->first;
    }
    return turns;
  }
};

// Returns how many alike operations of the turns read each array that is there before the first
// turn, in ascending order. Such an array is an input, or it is made of inputs outside of the
// turns. A part of one is such an array, too, although each turn takes another.
std::vector<int64_t> ReadsOfArrays(const PrintedGraph& graph, const AlikeOperations& alike,
                                   int64_t turns) {
  const size_t size = graph.nodes.size();
  const std::vector<bool> is_in_turn = alike.AreInTurns(turns);
  std::vector<bool> is_early(size);
  std::vector<int64_t> reads(size);                       // by array
  std::map<std::pair<size_t, size_t>, int64_t> by_group;  // reads of an array by a group
  for (size_t i = 0; i < size; ++i) {
    const GraphNode& node = graph.nodes[i];
    const bool reads_early = std::ranges::all_of(node.operands, [&](const auto& operand) {
      return size_t(operand.node) < i && is_early[size_t(operand.node)];
    });
    const bool is_outside =
        !is_in_turn[i] || (node.Has(OpTrait::kPart) && !node.operands.empty() && reads_early);
    is_early[i] = IsInput(node) || IsConstant(node) || (is_outside && reads_early);
    if (is_outside) continue;
    for (const GraphNode::Operand& operand : node.operands) {
      const size_t array = size_t(operand.node);
      if (array < i && is_early[array])
        reads[array] = std::max(reads[array], ++by_group[{array, alike.group[i]}]);
    }
  }
  std::vector<int64_t> of_arrays;
  for (size_t i = 0; i < size; ++i) {
    const GraphNode& node = graph.nodes[i];
    if (is_early[i] && reads[i] > 0 && !IsConstant(node) && !IsOneNumber(node) &&
        node.computation.empty())
      of_arrays.push_back(reads[i]);
  }
  std::ranges::sort(of_arrays);
  return of_arrays;
}

// Returns whether the turns mostly read the same arrays, such as weights. Layers of a network look
// like turns, but each reads arrays of its own.
bool ReadTheSame(const std::vector<int64_t>& reads, int64_t turns) {
  const int64_t same = std::ranges::count_if(
      reads, [&](int64_t of_array) { return of_array + turns / policy::kTurnsPerLack >= turns; });
  const int64_t own = int64_t(reads.size()) - same;
  return 2 * own < turns || same * turns > 2 * own;
}

// Returns the loop whose operations make up most of the program; nothing if there is none.
std::optional<UnrolledLoop> LoopOfOperations(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns) {
  const AlikeOperations alike(graph);
  int64_t turns = alike.Turns(least_turns);
  if (turns == 0 || 2 * alike.InTurns(turns) < alike.all) return std::nullopt;
  std::vector<int64_t> reads = ReadsOfArrays(graph, alike, turns);
  // A turn may itself repeat operations, for example in layers. How often it reads its weights
  // shows the number of turns.
  if (const int64_t usual = reads.empty() ? 0 : reads[reads.size() / 2];
      usual > 1 && usual < turns &&
      double(alike.InTurns(usual)) >= policy::kSimilarOperations * double(alike.InTurns(turns))) {
    turns = usual;
    reads = ReadsOfArrays(graph, alike, turns);
  }
  if (turns < least_turns || !ReadTheSame(reads, turns)) return std::nullopt;
  std::map<std::string_view, int64_t> at_line;
  const std::vector<bool> is_in_turn = alike.AreInTurns(turns);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (is_in_turn[i]) ++at_line[graph.nodes[i].location];
  }
  const int64_t in_turns = alike.InTurns(turns);
  std::erase_if(at_line,
                [&](const auto& line) { return line.first.empty() || !is_user(line.first); });
  if (at_line.empty()) return std::nullopt;
  const auto most =
      std::ranges::max_element(at_line, {}, [](const auto& line) { return line.second; });
  return UnrolledLoop{.turns = turns,
                      .location = std::string(most->first),
                      .body_nodes = in_turns / turns,
                      .share = double(in_turns) / double(alike.all)};
}

// Returns the loop with most turns that multiplies with the same weights; nothing if there is none.
std::optional<UnrolledLoop> LoopOfProducts(const PrintedGraph& graph, int64_t least_turns) {
  std::map<Product, int64_t> products;
  for (const GraphNode& node : graph.nodes) {
    if (!node.Is(OpKind::kContraction) || node.location.empty()) continue;
    Product product{.location = node.location};
    for (const GraphNode::Operand& operand : node.operands)
      product.shapes.emplace_back(WithoutLayout(graph.nodes[size_t(operand.node)].shape));
    ++products[std::move(product)];
  }
  const auto inputs = InputsByShape(graph);
  std::optional<UnrolledLoop> longest;
  for (const auto& [product, turns] : products) {
    if (turns < least_turns || (longest && turns <= longest->turns)) continue;
    // The weights are what the program has most inputs of.
    auto weights = inputs.end();
    for (const std::string& shape : product.shapes) {
      for (const std::string& weight : {shape, Transposed(shape)}) {
        const auto of_shape = inputs.find(weight);
        if (of_shape != inputs.end() &&
            (weights == inputs.end() || of_shape->second > weights->second))
          weights = of_shape;
      }
    }
    if (weights != inputs.end() && turns >= policy::kTurnsPerInput * weights->second)
      longest = {.turns = turns, .weight_shape = weights->first, .location = product.location};
  }
  return longest;
}

}  // namespace

std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns) {
  const std::optional<UnrolledLoop> loop = LoopOfOperations(graph, is_user, least_turns);
  return loop ? loop : LoopOfProducts(graph, least_turns);
}

}  // namespace xlaprof
