#include "analyzers/graph/kept_inputs.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "analyzers/graph/graph_content.h"
#include "base/array_bytes.h"
#include "base/numbers.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Returns whether an op computes each element of the result from the same element of each operand
// of that size.
bool KeepsPlaces(const GraphNode& node) {
  return node.Is(OpKind::kElementwise) || node.Is(OpKind::kConvert) || node.Is(OpKind::kCopy) ||
         (node.Is(OpKind::kView) && node.Has(OpTrait::kNothing));
}

// Follows a parameter of the entry computation to the results that replace it.
class Replacement {
 public:
  explicit Replacement(const PrintedGraph& graph)
      : nodes_(graph.nodes), users_(nodes_.size()), dimensions_(nodes_.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const GraphNode& node = nodes_[i];
      if (i == 0 || node.computation != nodes_[i - 1].computation) computations_.emplace_back();
      Computation& in = computations_.back();
      if (node.Is(OpKind::kInput)) in.parameters[InputNumber(node)] = int(i);
      in.root = int(i);
      if (node.root && node.computation.empty()) root_ = int(i);
      if (const auto shape = XlaShape::Parse(node.shape)) dimensions_[i] = shape->dimensions();
      for (size_t k = 0; k < node.operands.size(); ++k)
        users_[size_t(node.operands[k].node)].push_back({int(i), int(k)});
    }
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const auto called = CalledBy(int(i));
      if (called) caller_of_root_[computations_[*called].root] = int(i);
    }
  }

  int root() const { return root_; }  // of the entry computation; -1: there is none

  // Returns the indices of the results that replace a parameter.
  std::set<int64_t> ResultsOf(int parameter) {
    std::set<int64_t> results;
    std::set<Value> seen{{parameter, kArray}};
    std::vector<Value> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      if (value.node == root_) {
        if (value.node != parameter) results.insert(std::max(value.element, 0));
        continue;
      }
      std::vector<Value> next;
      if (const auto caller = caller_of_root_.find(value.node); caller != caller_of_root_.end())
        next.push_back({caller->second, value.element});
      for (const User& user : users_[size_t(value.node)]) {
        // A parameter that is returned as it is needs no new memory.
        const bool is_returned =
            value.node == parameter && nodes_[size_t(user.node)].Is(OpKind::kTuple);
        if (const auto through = Through(user, value); through && !is_returned)
          next.push_back(*through);
      }
      for (const Value& one : next) {
        if (seen.insert(one).second) open.push_back(one);
      }
    }
    return results;
  }

 private:
  struct User {
    int node = 0, operand = 0;
  };
  struct Computation {
    std::map<int64_t, int> parameters;  // nodes by number
    // The last node. Only the entry computation's results are marked, but a fusion has no node that
    // its result does not need, and nodes follow their operands.
    int root = 0;
  };
  // An array, or an element of a tuple, which a node makes.
  struct Value {
    int node = 0, element = kArray;
    auto operator<=>(const Value&) const = default;
  };
  static constexpr int kArray = -1;  // the node's result is not a tuple

  // Returns the number of the computation that a fusion or call runs.
  std::optional<size_t> CalledBy(int node) const {
    const GraphNode& of = nodes_[size_t(node)];
    if (!of.Is(OpKind::kCall)) return {};
    const auto number = ParseInteger(AttributeOf("calls", of.attributes));
    if (!number || *number < 0 || *number >= int64_t(computations_.size())) return {};
    return size_t(*number);
  }

  // Returns the value that holds `value` after an op that uses it; nothing if the op makes
  // something else of it.
  std::optional<Value> Through(const User& user, const Value& value) const {
    const GraphNode& node = nodes_[size_t(user.node)];
    if (node.Is(OpKind::kTuple))
      return value.element == kArray ? std::optional(Value{user.node, user.operand}) : std::nullopt;
    if (node.Is(OpKind::kElement)) {
      const auto index = ParseInteger(AttributeOf("index", node.attributes));
      return index == value.element ? std::optional(Value{user.node, kArray}) : std::nullopt;
    }
    // A loop keeps the places of its values.
    if (node.Is(OpKind::kLoop)) return Value{user.node, value.element};
    if (value.element != kArray) return {};
    if (const auto called = CalledBy(user.node)) {
      const auto& parameters = computations_[*called].parameters;
      const auto inner = parameters.find(user.operand);
      return inner == parameters.end() ? std::nullopt : std::optional(Value{inner->second, kArray});
    }
    const bool keeps =
        KeepsPlaces(node) || (user.operand == 0 && node.Is(OpKind::kUpdate));
    return keeps && dimensions_[size_t(user.node)] == dimensions_[size_t(value.node)]
               ? std::optional(Value{user.node, kArray})
               : std::nullopt;
  }

  const std::vector<GraphNode>& nodes_;
  std::vector<std::vector<User>> users_;
  std::vector<std::vector<int64_t>> dimensions_;
  std::vector<Computation> computations_;  // in the order of their nodes
  std::map<int, int> caller_of_root_;      // the node that runs a computation, by its root
  int root_ = -1;
};

// Returns the shapes of the results, by index.
std::vector<std::string> ResultShapes(const GraphNode& root) {
  std::vector<std::string> shapes;
  const std::optional<XlaShape> shape = XlaShape::Parse(root.shape);
  if (!shape) return shapes;
  for (const XlaShape& element : shape->elements()) shapes.push_back(element.text());
  if (!shape->is_tuple()) shapes.push_back(shape->text());
  return shapes;
}

// The parameters that a result may replace, by the result's index.
using Candidates = std::map<int64_t, std::set<int>>;

// Returns the parameter that each result replaces. Results with one candidate take it first: new
// weights depend on weights and momentum, but new momentum only on momentum. Results that are left
// with more candidates than there are results replace none, because it is not known which.
std::map<int64_t, int> Assigned(Candidates candidates) {
  std::map<int64_t, int> assigned;
  while (true) {
    auto sure =
        std::ranges::find_if(candidates, [](const auto& c) { return c.second.size() == 1; });
    if (sure == candidates.end()) {
      std::set<int> left;
      for (const auto& [result, some] : candidates) left.insert(some.begin(), some.end());
      sure = candidates.begin();
      if (left.empty() || left.size() > candidates.size()) return assigned;
    }
    const int parameter = *sure->second.begin();
    assigned[sure->first] = parameter;
    candidates.erase(sure);
    for (auto& [result, of_result] : candidates) of_result.erase(parameter);
    std::erase_if(candidates, [](const auto& c) { return c.second.empty(); });
  }
}

}  // namespace

int64_t KeptInputs::bytes() const {
  int64_t bytes = 0;
  for (const KeptInput& input : inputs) bytes += input.bytes;
  return bytes;
}

KeptInputs KeptInputsOf(const PrintedGraph& graph) {
  KeptInputs out;
  Replacement replacement(graph);
  if (replacement.root() < 0) return out;
  const auto shapes = ResultShapes(graph.nodes[size_t(replacement.root())]);
  std::set<int64_t> taken;      // results that have the memory of a parameter
  std::vector<int> parameters;  // that are not donated
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!node.Is(OpKind::kInput) || !node.computation.empty()) continue;
    out.parameter_bytes += ArrayBytes(node.shape);
    const std::string donated = AttributeOf("donated", node.attributes);
    if (donated.empty() && ArrayBytes(node.shape) > 0) parameters.push_back(int(i));
    if (const auto result = ParseInteger(donated)) taken.insert(*result);
  }
  Candidates candidates;
  for (const int parameter : parameters) {
    for (const int64_t result : replacement.ResultsOf(parameter)) {
      if (result < int64_t(shapes.size()) && !taken.contains(result) &&
          shapes[size_t(result)] == graph.nodes[size_t(parameter)].shape)
        candidates[result].insert(parameter);
    }
  }
  for (const auto& [result, parameter] : Assigned(std::move(candidates))) {
    const GraphNode& node = graph.nodes[size_t(parameter)];
    out.inputs.push_back({.parameter = InputNumber(node),
                          .result = result,
                          .argument = ArgumentOf(node),
                          .shape = WithoutLayout(node.shape),
                          .bytes = ArrayBytes(node.shape)});
  }
  std::ranges::sort(out.inputs, {}, &KeptInput::parameter);
  std::ranges::stable_sort(out.inputs, std::greater<>(), &KeptInput::bytes);
  return out;
}

}  // namespace xlaprof
