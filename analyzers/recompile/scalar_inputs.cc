#include "analyzers/recompile/scalar_inputs.h"

#include <algorithm>

#include "analyzers/graph/graph_content.h"
#include "analyzers/graph/graph_inputs.h"

namespace xlaprof {

std::vector<SourcePlace> PlacesOfScalarInputs(const PrintedGraph& graph, const UserCode& code) {
  std::vector<SourcePlace> places;
  for (const GraphNode& node : graph.nodes) {
    if (!IsInput(node) || !IsScalar(node)) continue;
    SourcePlace place = code.Of(node);
    const bool is_known = std::ranges::any_of(
        places, [&](const SourcePlace& one) { return one.text() == place.text(); });
    if (!place.empty() && !is_known) places.push_back(std::move(place));
  }
  return places;
}

}  // namespace xlaprof
