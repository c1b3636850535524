// Compares which numbers of two graphs are constants, and which of them are one input. torch_xla
// and our runtime embed 0 and 1, and pass equal numbers as one input.
#include "analyzers/graph/graph_diff_internal.h"

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

using Pair = std::pair<int, int>;  // of nodes: in the older graph, in the newer one

bool IsNumber(const GraphNode& node) {
  return IsScalar(node) && (IsInput(node) || IsConstant(node));
}

// Returns by node whether it needs nothing but numbers.
std::vector<bool> NeedsOnlyNumbers(const PrintedGraph& graph) {
  std::vector<bool> only(graph.nodes.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    only[i] = IsNumber(node) || (!node.operands.empty() &&
                                 std::ranges::all_of(node.operands, [&](const auto& operand) {
                                   return size_t(operand.node) < i && only[size_t(operand.node)];
                                 }));
  }
  return only;
}

// Returns the node of each result, by its number.
std::map<int64_t, int> ResultsOf(const PrintedGraph& graph) {
  std::map<int64_t, int> results;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].root) results[*graph.nodes[i].root] = int(i);
  }
  return results;
}

// Walks two graphs at once from their results, and pairs their nodes.
class Walk {
 public:
  Walk(const PrintedGraph& before, const PrintedGraph& after)
      : before_(before),
        after_(after),
        only_before_(NeedsOnlyNumbers(before)),
        only_after_(NeedsOnlyNumbers(after)) {}

  // Returns the pairs of numbers at the same places, or nothing if anything else differs.
  std::optional<std::vector<Pair>> Numbers() {
    const std::map<int64_t, int> old = ResultsOf(before_), now = ResultsOf(after_);
    if (old.size() != now.size()) return std::nullopt;
    for (const auto& [number, node] : old) {
      const auto same = now.find(number);
      if (same == now.end()) return std::nullopt;
      open_.emplace_back(node, same->second);
    }
    while (!open_.empty()) {
      const Pair pair = open_.back();
      open_.pop_back();
      if (seen_.insert(pair).second && !Take(pair)) return std::nullopt;
    }
    std::ranges::sort(numbers_);
    return std::move(numbers_);
  }

 private:
  bool Take(Pair pair) {
    const GraphNode &a = before_.nodes[size_t(pair.first)], &b = after_.nodes[size_t(pair.second)];
    if (WithoutLayout(a.shape) != WithoutLayout(b.shape)) return false;
    if (IsNumber(a) && IsNumber(b)) {
      numbers_.push_back(pair);
      return true;
    }
    if (a.op != b.op || a.operands.size() != b.operands.size() ||
        ContentAttributes(a.attributes) != ContentAttributes(b.attributes))
      return false;
    // Each other node has one partner, so that the same tensors are shared.
    const bool only_numbers = only_before_[size_t(pair.first)] && only_after_[size_t(pair.second)];
    if (!only_numbers &&
        (partner_.try_emplace(pair.first, pair.second).first->second != pair.second ||
         partner_back_.try_emplace(pair.second, pair.first).first->second != pair.first))
      return false;
    for (size_t i = 0; i < a.operands.size(); ++i) {
      if (a.operands[i].output != b.operands[i].output) return false;
      open_.emplace_back(a.operands[i].node, b.operands[i].node);
    }
    return true;
  }

  const PrintedGraph &before_, &after_;
  const std::vector<bool> only_before_, only_after_;
  std::vector<Pair> open_, numbers_;
  absl::flat_hash_set<Pair> seen_;
  absl::flat_hash_map<int, int> partner_, partner_back_;
};

// Returns the first pair of inputs of which one graph has one where the other has two.
std::optional<Pair> FirstShared(const std::vector<Pair>& inputs) {
  absl::flat_hash_map<int, int> partner, partner_back;
  for (const auto& [a, b] : inputs) {
    if (partner.try_emplace(a, b).first->second != b ||
        partner_back.try_emplace(b, a).first->second != a)
      return Pair(a, b);
  }
  return std::nullopt;
}

// Returns whether a result is made from the number alone: it is state, such as an optimizer's
// counter, and a constant only in the first step.
bool IsState(const PrintedGraph& graph, int input) {
  return std::ranges::any_of(graph.nodes, [&](const GraphNode& user) {
    return user.root && IsScalar(user) && !user.operands.empty() && user.operands[0].node == input;
  });
}

GraphDifference ScalarOrInput(const PrintedGraph& before, const PrintedGraph& after, Pair pair) {
  const GraphNode &a = before.nodes[size_t(pair.first)], &b = after.nodes[size_t(pair.second)];
  const bool to_input = IsInput(b);
  auto text = [](const GraphNode& node) {
    return fmt::format("{} {}", node.op, WithoutLayout(node.shape));
  };
  return {.type = ReasonType::kConstantChange,
          .node = b.op,
          .before = text(a),
          .after = text(b),
          .node_index = pair.second,
          .before_index = pair.first,
          .is_scalar_or_input = true,
          .has_equal_scalar = to_input ? HasEqualScalar(after, a) : HasEqualScalar(before, b)};
}

}  // namespace

std::optional<GraphDifference> NumberPatternChange(const PrintedGraph& before,
                                                   const PrintedGraph& after) {
  const std::optional<std::vector<Pair>> numbers = Walk(before, after).Numbers();
  if (!numbers) return std::nullopt;
  std::vector<Pair> inputs;
  for (const Pair& pair : *numbers) {
    const bool a = IsInput(before.nodes[size_t(pair.first)]),
               b = IsInput(after.nodes[size_t(pair.second)]);
    if (!a && b && IsState(after, pair.second)) return std::nullopt;
    if (a != b) return ScalarOrInput(before, after, pair);
    if (a) inputs.push_back(pair);
  }
  const std::optional<Pair> shared = FirstShared(inputs);
  if (!shared) return std::nullopt;
  const auto count = [](const PrintedGraph& graph) {
    return fmt::format("{} inputs", std::ranges::count_if(graph.nodes, IsInput));
  };
  return GraphDifference{.type = ReasonType::kParameterSharingChange,
                         .node = after.nodes[size_t(shared->second)].op,
                         .before = count(before),
                         .after = count(after),
                         .node_index = shared->second,
                         .before_index = shared->first,
                         .is_input = true};
}

}  // namespace xlaprof
