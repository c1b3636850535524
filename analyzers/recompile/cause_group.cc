#include "analyzers/recompile/cause_group.h"

#include <algorithm>
#include <map>
#include <set>

namespace xlaprof {
namespace {

// Returns whether two shapes may belong to one input, because their types and ranks are equal. If
// several inputs change, for example images and labels, the first that differs is not the same one
// in each compile.
bool MayBeOneInput(const std::optional<XlaShape>& shape, const XlaShape& other) {
  return shape && shape->is_tuple() == other.is_tuple() &&
         shape->element_type() == other.element_type() && shape->rank() == other.rank();
}

int64_t ExecutionsOf(const std::set<int64_t>& graphs,
                     const std::map<int64_t, int64_t>* executions) {
  int64_t times = 0;
  for (int64_t graph : graphs) {
    if (executions == nullptr) break;
    if (const auto at = executions->find(graph); at != executions->end()) times += at->second;
  }
  return times;
}

}  // namespace

std::optional<SizesSeen> SizesOf(const RecompileGroup& group) {
  const std::optional<XlaShape> shown = XlaShape::Parse(group.cause().before);
  if (group.cause().type != ReasonType::kShapeChange || !shown) return std::nullopt;
  SizesSeen seen{.shape = *shown};
  std::map<std::string, std::set<int64_t>> graphs;  // by shape
  auto add = [&](const XlaShape& shape, OptInt graph) {
    if (graph) graphs[shape.text()].insert(*graph);
    if (std::find(seen.shapes.begin(), seen.shapes.end(), shape) != seen.shapes.end()) return;
    seen.shapes.push_back(shape);
  };
  for (const RecompileCause& cause : group.causes) {
    const std::optional<XlaShape> before = XlaShape::Parse(cause.before),
                                  after = XlaShape::Parse(cause.after);
    if (!MayBeOneInput(before, *shown) || !MayBeOneInput(after, *shown)) {
      // If the same input has another rank, no single size changes.
      if (!cause.input.empty() && cause.input == group.cause().input)
        return SizesSeen{.shape = *shown};
      continue;
    }
    if (seen.shapes.empty()) add(*before, cause.graph_before);
    add(*after, cause.graph_after);
  }
  std::optional<int> varies;
  for (const XlaShape& shape : seen.shapes) {
    for (size_t d = 0; d < shape.rank(); ++d) {
      if (shape.dimensions()[d] == seen.shapes[0].dimensions()[d]) continue;
      if (varies && *varies != static_cast<int>(d)) return seen;
      varies = static_cast<int>(d);
    }
  }
  if (!varies) return seen;
  seen.dimension = varies;
  for (const XlaShape& shape : seen.shapes) {
    const int64_t size = shape.dimensions()[size_t(*varies)];
    if (std::find(seen.sizes.begin(), seen.sizes.end(), size) != seen.sizes.end()) continue;
    seen.sizes.push_back(size);
    int64_t times = ExecutionsOf(graphs[shape.text()], group.executions);
    const auto other = group.other_executions.find(shape.text());
    if (other != group.other_executions.end()) times += other->second;
    if (times > 0) seen.times.push_back(times);
  }
  if (seen.times.size() != seen.sizes.size()) seen.times.clear();
  return seen;
}

std::vector<std::string> ValuesOf(const RecompileGroup& group) {
  std::vector<std::string> values;
  auto add = [&](const std::string& value) {
    if (!value.empty() && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  };
  add(group.cause().before);
  for (size_t i = group.clearest; i < group.causes.size(); ++i) add(group.causes[i].after);
  return values;
}

}  // namespace xlaprof
