#include "analyzers/graph/unrolled_loop.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <vector>

#include "analyzers/graph/graph_content.h"
#include "core/base/xla_shape.h"

namespace xlaprof {
namespace {

constexpr int64_t kTurns = 16, kTurnsPerInput = 8;

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

// Multiplications that look alike: their line, and the shapes of what they multiply.
struct Product {
  std::string location;
  std::vector<std::string> shapes;
  auto operator<=>(const Product&) const = default;
};

}  // namespace

std::optional<UnrolledLoop> FindUnrolledLoop(const PrintedGraph& graph) {
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
    if (turns < kTurns || (longest && turns <= longest->turns)) continue;
    // The weights are what the program has most inputs of.
    auto weights = inputs.end();
    for (const std::string& shape : product.shapes) {
      const auto of_shape = inputs.find(shape);
      if (of_shape != inputs.end() &&
          (weights == inputs.end() || of_shape->second > weights->second))
        weights = of_shape;
    }
    if (weights != inputs.end() && turns >= kTurnsPerInput * weights->second)
      longest = {.turns = turns, .weight_shape = weights->first, .location = product.location};
  }
  return longest;
}

}  // namespace xlaprof
