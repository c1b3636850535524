#include "analyzers/recompile/cause_group.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/array_bytes.h"

namespace xlaprof {
namespace {

// Returns whether two shapes may belong to one input, because their types and ranks are equal. If
// several inputs change, for example images and labels, different compiles may list a different
// one first.
bool MayBeOneInput(const std::optional<XlaShape>& shape, const XlaShape& other) {
  return shape && shape->is_tuple() == other.is_tuple() &&
         shape->element_type() == other.element_type() && shape->rank() == other.rank();
}

int64_t ExecutionsOf(const std::set<int64_t>& graphs,
                     const std::map<int64_t, int64_t>* executions) {
  if (executions == nullptr) return 0;
  int64_t count = 0;
  for (int64_t graph : graphs) {
    if (const auto at = executions->find(graph); at != executions->end()) count += at->second;
  }
  return count;
}

OptInt Either(OptInt one, OptInt other) { return one ? one : other; }

// Returns how often an array of each shape was copied to the device. Returns nothing unless these copies
// are as many as the steps, because arrays of other inputs may have the same bytes.
std::vector<int64_t> TimesUploaded(const std::vector<XlaShape>& shapes,
                                   const RecompileGroup& group) {
  if (group.uploads == nullptr || group.steps == nullptr || !group.steps->known ||
      group.steps->from != StepsFrom::kSteps)
    return {};
  std::vector<int64_t> times;
  std::set<int64_t> met;
  int64_t sum = 0;
  for (const XlaShape& shape : shapes) {
    const int64_t bytes = ArrayBytes(shape);
    const auto count = group.uploads->find(bytes);
    if (bytes <= 0 || count == group.uploads->end() || !met.insert(bytes).second) return {};
    times.push_back(count->second);
    sum += count->second;
  }
  return sum == group.steps->count() ? times : std::vector<int64_t>();
}

}  // namespace

std::optional<SizesSeen> SizesOf(const RecompileGroup& group) {
  const std::optional<XlaShape> clearest_shape = XlaShape::Parse(group.cause().before);
  if (group.cause().type != ReasonType::kShapeChange || !clearest_shape) return std::nullopt;
  SizesSeen seen{.shape = *clearest_shape};
  std::map<std::string, std::set<int64_t>> graphs;  // by shape
  auto add = [&](const XlaShape& shape, OptInt graph) {
    if (graph) graphs[shape.text()].insert(*graph);
    if (std::find(seen.shapes.begin(), seen.shapes.end(), shape) != seen.shapes.end()) return;
    seen.shapes.push_back(shape);
  };
  // The set holds the dimensions that some compile changed. Others may differ between inputs that change
  // alike, such as those of two layers.
  std::set<int> changed;
  for (const RecompileCause& cause : group.causes) {
    const std::optional<XlaShape> before = XlaShape::Parse(cause.before),
                                  after = XlaShape::Parse(cause.after);
    if (!MayBeOneInput(before, *clearest_shape) || !MayBeOneInput(after, *clearest_shape)) {
      // If the same input has another rank, no single size changes.
      if (!cause.input.empty() && cause.input == group.cause().input)
        return SizesSeen{.shape = *clearest_shape};
      continue;
    }
    for (size_t d = 0; d < clearest_shape->rank(); ++d) {
      if (before->dimensions()[d] != after->dimensions()[d]) changed.insert(int(d));
    }
    if (seen.shapes.empty()) add(*before, Either(cause.graph_before, cause.program_before));
    add(*after, Either(cause.graph_after, cause.program_after));
  }
  seen.dimensions.assign(changed.begin(), changed.end());
  if (seen.dimensions.empty()) return seen;
  std::vector<XlaShape> shapes;  // the first of each of seen.sizes
  std::vector<int64_t> executions;
  for (const XlaShape& shape : seen.shapes) {
    Sizes sizes;
    for (int d : seen.dimensions) sizes.push_back(shape.dimensions()[size_t(d)]);
    const auto known = std::ranges::find(seen.sizes, sizes);
    const size_t at = size_t(known - seen.sizes.begin());
    if (known == seen.sizes.end()) {
      seen.sizes.push_back(std::move(sizes));
      shapes.push_back(shape);
      executions.push_back(0);
    }
    int64_t count = ExecutionsOf(graphs[shape.text()], group.executions);
    const auto other = group.other_executions.find(shape.text());
    if (other != group.other_executions.end()) count += other->second;
    executions[at] += count;
    seen.came_again |= count > 1;
  }
  if (group.counts_all_executions && std::ranges::find(executions, 0) == executions.end())
    seen.times = std::move(executions);
  if (seen.times.empty()) seen.times = TimesUploaded(shapes, group);
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
