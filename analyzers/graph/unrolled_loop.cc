#include "analyzers/graph/unrolled_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

constexpr int64_t kTurnsPerInput = 8;

// Returns whether the node multiplies or convolves, in HLO, StableHLO or torch_xla's IR.
bool Multiplies(const GraphNode& node) {
  static constexpr std::array<std::string_view, 9> kOps = {"dot",
                                                           "convolution",
                                                           "dot_general",
                                                           "stablehlo.dot_general",
                                                           "stablehlo.convolution",
                                                           "aten::mm",
                                                           "aten::addmm",
                                                           "aten::bmm",
                                                           "aten::convolution_overrideable"};
  return std::ranges::find(kOps, node.op) != kOps.end();
}

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

// Returns the loop whose operations make up most of the program; nothing if there is none.
std::optional<UnrolledLoop> LoopOfOperations(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns) {
  std::map<std::tuple<std::string_view, std::string_view, std::string_view>, int64_t> occurrences;
  std::map<std::string_view, int64_t> at_line;
  std::map<std::string_view, bool> is_user_line;
  int64_t inputs = 0, scalars = 0, operations = 0;
  for (const GraphNode& node : graph.nodes) {
    if (IsInput(node)) ++(IsScalar(node) ? scalars : inputs);
    if (IsInput(node) || IsConstant(node) || node.location.empty()) continue;
    auto [known, is_new] = is_user_line.try_emplace(node.location, false);
    if (is_new) known->second = is_user(node.location);
    if (!known->second) continue;
    ++occurrences[{node.location, node.op, node.framework_op}];
    ++at_line[node.location];
    ++operations;
  }
  std::vector<int64_t> counts;
  for (const auto& [operation, count] : occurrences) counts.push_back(count);
  std::ranges::sort(counts, std::greater());
  int64_t turns = 0, covered = 0;
  for (size_t i = 0; i < counts.size() && 2 * covered < operations; ++i)
    turns = counts[i], covered += counts[i];
  if (turns < least_turns || 2 * inputs >= turns || scalars >= turns) return std::nullopt;
  const auto most =
      std::ranges::max_element(at_line, {}, [](const auto& line) { return line.second; });
  return UnrolledLoop{.turns = turns, .location = std::string(most->first)};
}

}  // namespace

std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph,
                                             const std::function<bool(std::string_view)>& is_user,
                                             int64_t least_turns) {
  std::map<Product, int64_t> products;
  for (const GraphNode& node : graph.nodes) {
    if (!Multiplies(node) || node.location.empty()) continue;
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
    if (weights != inputs.end() && turns >= kTurnsPerInput * weights->second)
      longest = {.turns = turns, .weight_shape = weights->first, .location = product.location};
  }
  return longest ? longest : LoopOfOperations(graph, is_user, least_turns);
}

}  // namespace xlaprof
