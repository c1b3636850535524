#include "analyzers/graph/donation.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzers/graph/graph_content.h"
#include "base/array_bytes.h"
#include "base/numbers.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Follows values through the entry computation of one graph.
class Follow {
 public:
  explicit Follow(const PrintedGraph& graph) : nodes_(graph.nodes), users_(graph.nodes.size()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      const GraphNode& node = nodes_[i];
      if (!node.computation.empty()) continue;
      if (node.root) root_ = int(i);
      for (size_t k = 0; k < node.operands.size(); ++k)
        users_[size_t(node.operands[k].node)].push_back({int(i), int(k)});
    }
    if (root_ >= 0) root_shape_ = XlaShape::Parse(nodes_[size_t(root_)].shape);
  }

  struct User {
    int node = 0, operand = 0;
  };
  const std::vector<User>& UsersOf(int node) const { return users_[size_t(node)]; }
  int root() const { return root_; }  // -1: there is none

  // Returns all nodes that depend on a node.
  std::set<int> After(int node) const {
    std::set<int> after;
    std::vector<int> open{node};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      for (const User& user : UsersOf(at)) {
        if (after.insert(user.node).second) open.push_back(user.node);
      }
    }
    return after;
  }

  // Returns the shapes of the results that may be the array that `node` makes, updated in place: it
  // reaches them through ops whose result has the same size, tuples and loops. By index.
  std::map<int64_t, std::string> ResultsOf(int node) const {
    std::map<int64_t, std::string> results;
    const int64_t bytes = ArrayBytes(nodes_[size_t(node)].shape);
    std::set<Value> seen{{node, kArray}};
    std::vector<Value> open(seen.begin(), seen.end());
    while (!open.empty()) {
      const Value value = open.back();
      open.pop_back();
      if (value.node == root_) AddResult(value, bytes, results);
      for (const User& user : UsersOf(value.node)) {
        const std::optional<Value> next = Through(user, value, bytes);
        if (next && seen.insert(*next).second) open.push_back(*next);
      }
    }
    return results;
  }

 private:
  // An array, or an element of a tuple, which a node makes.
  struct Value {
    int node = 0, element = kArray;
    auto operator<=>(const Value&) const = default;
  };
  static constexpr int kArray = -1;       // the node's result is not a tuple
  static constexpr int kAnyElement = -2;  // one of the elements of that size

  // Returns the value that holds `value` after an op that uses it; nothing if the op makes something
  // else of it.
  std::optional<Value> Through(const User& user, const Value& value, int64_t bytes) const {
    const GraphNode& node = nodes_[size_t(user.node)];
    if (node.Is(OpKind::kTuple))
      return value.element == kArray ? std::optional(Value{user.node, user.operand}) : std::nullopt;
    if (node.Is(OpKind::kElement)) {
      const bool is_it =
          value.element == kAnyElement ||
          value.element == int(ParseInteger(AttributeOf("index", node.attributes)).value_or(-3));
      return is_it && ArrayBytes(node.shape) == bytes ? std::optional(Value{user.node, kArray})
                                                      : std::nullopt;
    }
    if (value.element != kArray)  // a loop keeps the places of its values
      return node.Is(OpKind::kLoop) ? std::optional(Value{user.node, value.element}) : std::nullopt;
    const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
    if (!shape) return {};
    if (!shape->is_tuple())
      return ArrayBytes(*shape) == bytes ? std::optional(Value{user.node, kArray}) : std::nullopt;
    const bool holds = std::ranges::any_of(
        shape->elements(), [&](const XlaShape& e) { return ArrayBytes(e) == bytes; });
    return holds ? std::optional(Value{user.node, kAnyElement}) : std::nullopt;
  }

  void AddResult(const Value& value, int64_t bytes, std::map<int64_t, std::string>& results) const {
    if (!root_shape_) return;
    if (value.element == kArray && !root_shape_->is_tuple()) results[0] = root_shape_->text();
    for (size_t i = 0; i < root_shape_->elements().size(); ++i) {
      const XlaShape& element = root_shape_->elements()[i];
      if (value.element == int(i) || (value.element == kAnyElement && ArrayBytes(element) == bytes))
        results[int64_t(i)] = element.text();
    }
  }

  const std::vector<GraphNode>& nodes_;
  std::vector<std::vector<User>> users_;
  int root_ = -1;
  std::optional<XlaShape> root_shape_;  // parsed once, because it may have thousands of elements
};

}  // namespace

std::vector<DonatableCopy> DonatableCopiesOf(const PrintedGraph& graph) {
  const Follow follow(graph);
  if (follow.root() < 0) return {};
  std::set<int64_t> taken;  // results that a parameter gives its memory to
  std::vector<int> copies;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const GraphNode& node = graph.nodes[i];
    if (!node.computation.empty()) continue;
    if (auto result = ParseInteger(AttributeOf("donated", node.attributes))) taken.insert(*result);
    if (!node.Is(OpKind::kCopy) || !node.Has(OpTrait::kNothing) || node.operands.size() != 1)
      continue;
    const GraphNode& parameter = graph.nodes[size_t(node.operands[0].node)];
    const bool is_donated = !AttributeOf("donated", parameter.attributes).empty();
    if (parameter.Is(OpKind::kInput) && parameter.shape == node.shape && !is_donated &&
        ArrayBytes(node.shape) > 0)
      copies.push_back(int(i));
  }
  std::ranges::stable_sort(copies, std::greater<>(),
                           [&](int copy) { return ArrayBytes(graph.nodes[size_t(copy)].shape); });
  std::vector<DonatableCopy> out;
  std::set<int> parameters;  // each has only one buffer to give
  for (int copy : copies) {
    const GraphNode& node = graph.nodes[size_t(copy)];
    const int parameter = node.operands[0].node;
    if (parameters.contains(parameter)) continue;
    const std::set<int> after = follow.After(copy);
    const bool is_read_later = std::ranges::any_of(
        follow.UsersOf(parameter), [&](const auto& user) { return after.contains(user.node); });
    if (is_read_later) continue;
    for (const auto& [result, shape] : follow.ResultsOf(copy)) {
      if (shape != node.shape || !taken.insert(result).second) continue;
      const GraphNode& of = graph.nodes[size_t(parameter)];
      parameters.insert(parameter);
      out.push_back({.parameter = std::max<int64_t>(0, InputNumber(of)),
                     .result = result,
                     .argument = ArgumentOf(of),
                     .name = node.name,
                     .shape = WithoutLayout(node.shape),
                     .bytes = ArrayBytes(node.shape)});
      break;
    }
  }
  return out;
}

}  // namespace xlaprof
