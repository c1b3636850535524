// Compares the inputs of two programs by the names that JAX gives them, such as batch['image'].
#include "analyzers/graph/graph_diff_internal.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "analyzers/graph/graph_content.h"

namespace xlaprof {
namespace {

using Names = std::set<std::string>;

// Returns the names of all inputs; nothing if one has no name or two have the same.
std::optional<Names> NamesOf(const PrintedGraph& graph) {
  Names names;
  for (const GraphNode& node : graph.nodes) {
    if (!IsInput(node)) continue;
    std::string name = ArgumentOf(node);
    if (name.empty() || !names.insert(std::move(name)).second) return std::nullopt;
  }
  return names;
}

// Returns batch for batch['image'] and state for state[0].count.
std::string Argument(const std::string& name) { return name.substr(0, name.find_first_of("[.")); }

// Returns the names that `other` does not have. Those of the argument with the fewest inputs come
// first: a batch has few, and weights that only such a batch needs are inputs as well.
std::vector<std::string> Missing(const Names& names, const Names& other) {
  std::map<std::string, int> inputs;
  for (const std::string& name : names) ++inputs[Argument(name)];
  std::vector<std::string> missing;
  std::ranges::set_difference(names, other, std::back_inserter(missing));
  std::ranges::stable_sort(missing, {},
                           [&](const std::string& name) { return inputs[Argument(name)]; });
  return missing;
}

}  // namespace

std::optional<GraphDifference> OtherNamedInputs(const PrintedGraph& before,
                                                const PrintedGraph& after) {
  const std::optional<Names> old_names = NamesOf(before), new_names = NamesOf(after);
  if (!old_names || !new_names || *old_names == *new_names) return std::nullopt;
  const std::vector<std::string> lost = Missing(*old_names, *new_names),
                                 gained = Missing(*new_names, *old_names);
  return GraphDifference{.type = ReasonType::kInputStructureChange,
                         .node = Argument(gained.empty() ? lost.front() : gained.front()),
                         .before = lost.empty() ? "" : lost.front(),
                         .after = gained.empty() ? "" : gained.front()};
}

}  // namespace xlaprof
