#include "analyzers/graph/graph_content.h"

#include <algorithm>
#include <array>

#include "base/hash.h"
#include "base/numbers.h"
#include "base/xla_shape.h"

namespace xlaprof {
namespace {

// Attributes that do not affect the computation.
constexpr std::array<std::string_view, 21> kNoContent = {"metadata",
                                                         "backend_config",
                                                         "frontend_attributes",
                                                         "scope",
                                                         "location",
                                                         "xla_shape",
                                                         "num_outputs",
                                                         "calls",
                                                         "to_apply",
                                                         "body",
                                                         "condition",
                                                         "branch_computations",
                                                         "called_computations",
                                                         "channel_id",
                                                         "name",
                                                         "origin",
                                                         "dynamic_dims",
                                                         "stack_frame_id",
                                                         "donated",
                                                         "argument",
                                                         "id"};

// Attributes of an input that make a different program of the same operations.
constexpr std::array<std::string_view, 2> kOfInputs = {"sharding", "weak_type"};

// Splits "a={1,2}, b=3" into "a={1,2}" and "b=3".
std::vector<std::string_view> SplitAttributes(std::string_view attributes) {
  std::vector<std::string_view> list;
  size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i <= attributes.size(); ++i) {
    if (i < attributes.size()) {
      const char c = attributes[i];
      if (c == '"' && (i == 0 || attributes[i - 1] != '\\')) quoted = !quoted;
      if (!quoted && (c == '{' || c == '(' || c == '[')) ++depth;
      if (!quoted && (c == '}' || c == ')' || c == ']')) --depth;
      if (c != ',' || quoted || depth > 0) continue;
    }
    std::string_view one = attributes.substr(begin, i - begin);
    begin = i + 1;
    while (one.starts_with(' ')) one.remove_prefix(1);
    if (!one.empty()) list.push_back(one);
  }
  return list;
}

}  // namespace

std::string ContentAttributes(std::string_view attributes) {
  std::string out;
  for (std::string_view one : SplitAttributes(attributes)) {
    const std::string_view key = one.substr(0, one.find_first_of("=:"));
    if (std::find(kNoContent.begin(), kNoContent.end(), key) != kNoContent.end()) continue;
    if (!out.empty()) out += ", ";
    out += one;
  }
  return out;
}

std::pair<std::string, std::string> DifferingAttributes(std::string_view a, std::string_view b) {
  const std::string content_a = ContentAttributes(a), content_b = ContentAttributes(b);
  const std::vector<std::string_view> list_a = SplitAttributes(content_a),
                                      list_b = SplitAttributes(content_b);
  auto beyond = [](const std::vector<std::string_view>& list,
                   const std::vector<std::string_view>& other) {
    std::string out;
    for (std::string_view one : list) {
      if (std::find(other.begin(), other.end(), one) != other.end()) continue;
      out += (out.empty() ? "" : ", ") + std::string(one);
    }
    return out;
  };
  return {beyond(list_a, list_b), beyond(list_b, list_a)};
}

std::string AttributeOf(std::string_view key, std::string_view attributes) {
  for (std::string_view one : SplitAttributes(attributes)) {
    if (one.starts_with(key) && one.substr(key.size()).starts_with('='))
      return std::string(one.substr(key.size() + 1));
  }
  return "";
}

std::string ArgumentOf(const GraphNode& parameter) {
  const std::string quoted = AttributeOf("argument", parameter.attributes);
  return quoted.size() < 2 ? "" : quoted.substr(1, quoted.size() - 2);
}

int64_t InputNumber(const GraphNode& input) {
  return ParseInteger(AttributeOf(input.op, input.attributes)).value_or(-1);
}

bool IsInput(const GraphNode& node) {
  return node.Is(OpKind::kInput) && node.computation.empty();
}

bool IsConstant(const GraphNode& node) { return node.Is(OpKind::kConstant); }

uint64_t ContentHash(const GraphNode& node) {
  uint64_t hash = Fnv(Fnv(kFnvStart, node.op), WithoutLayout(node.shape));
  if (node.attributes.empty()) return hash;
  // The number of HLO's parameter shifts when another one appears before it. IR's inputs have none.
  if (node.Is(OpKind::kInput) && node.Has(OpTrait::kNothing)) {
    for (std::string_view one : SplitAttributes(node.attributes)) {
      const std::string_view key = one.substr(0, one.find('='));
      if (std::ranges::find(kOfInputs, key) != kOfInputs.end()) hash = Fnv(hash, one);
    }
    return hash;
  }
  const std::string content = ContentAttributes(node.attributes);
  return content.empty() ? hash : Fnv(hash, content);
}

uint64_t KindHash(const GraphNode& node) {
  const std::optional<XlaShape> shape = XlaShape::Parse(node.shape);
  return (Fnv(kFnvStart, node.op) ^ (shape ? shape->rank() : 0)) * kFnvPrime;
}

std::vector<uint64_t> ContentHashes(const PrintedGraph& graph) {
  std::vector<uint64_t> hashes;
  hashes.reserve(graph.nodes.size());
  for (const GraphNode& node : graph.nodes) hashes.push_back(ContentHash(node));
  std::sort(hashes.begin(), hashes.end());
  return hashes;
}

int64_t MultisetDistance(const std::vector<uint64_t>& a, const std::vector<uint64_t>& b) {
  int64_t distance = 0;
  size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (a[i] == b[j]) {
      ++i, ++j;
    } else {
      ++distance;
      a[i] < b[j] ? ++i : ++j;
    }
  }
  return distance + static_cast<int64_t>(a.size() - i + b.size() - j);
}

}  // namespace xlaprof
