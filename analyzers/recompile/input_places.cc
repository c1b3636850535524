#include "analyzers/recompile/input_places.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"
#include "base/xla_shape.h"

namespace xlaprof {

namespace {

// Returns the places in the user's code at which the inputs that `is_meant` accepts are recorded.
template <typename IsMeant>
std::vector<SourcePlace> PlacesOfInputs(const PrintedGraph& graph, const UserCode& code,
                                        const IsMeant& is_meant) {
  std::vector<SourcePlace> places;
  for (const GraphNode& node : graph.nodes) {
    if (!IsInput(node) || !is_meant(node)) continue;
    SourcePlace place = code.Of(node);
    const bool is_known = std::ranges::any_of(
        places, [&](const SourcePlace& one) { return one.text() == place.text(); });
    if (!place.empty() && !is_known) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace

std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code) {
  return PlacesOfInputs(graph, code, IsScalar);
}

SourcePlace PlaceOfInput(const PrintedGraph& graph, const std::string& shape,
                         const UserCode& code) {
  const std::vector<SourcePlace> places =
      PlacesOfInputs(graph, code, [&](const GraphNode& node) {
        return WithoutLayout(node.shape) == WithoutLayout(shape);
      });
  return places.size() == 1 ? places.front() : SourcePlace();
}

}  // namespace xlaprof
