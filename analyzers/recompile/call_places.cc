#include "analyzers/recompile/call_places.h"

#include <algorithm>

#include "analyzers/run/graph_nodes.h"

namespace xlaprof {

absl::StatusOr<std::vector<SourcePlace>> CallPlaces(const Run& run, const CompileSites& sites,
                                                    const CompileSite& site) {
  std::vector<SourcePlace> places;
  for (const CompileFact& compile : site.compiles) {
    SourcePlace& place = places.emplace_back();
    if (site.cause != CutKind::kCall && site.cause != CutKind::kOperation) continue;
    if (compile.site_id) {
      const auto known = sites.places.find(*compile.site_id);
      if (known != sites.places.end()) place = known->second;
      continue;
    }
    for (const auto& [form, graph_id] : compile.forms) {
      XP_TRY(const int64_t lines, CountLocations(run, graph_id));
      XP_TRY(const OptText text, LocationOfResult(run, graph_id));
      if (lines == 1 && text) place = SourcePlace::Parse(*text);
      if (!place.file.empty()) break;
    }
  }
  return places;
}

bool IsOnlyCallOfItsLine(const std::vector<SourcePlace>& places, size_t index) {
  const SourcePlace& place = places[index];
  if (place.file.empty() || !place.line) return false;
  return std::ranges::count_if(places, [&](const SourcePlace& other) {
           return other.file == place.file && other.line == place.line;
         }) == 1;
}

bool CouldShareProgram(const RecompileCause& cause) {
  switch (cause.type) {
    case ReasonType::kRedefinedFunction:
    case ReasonType::kCacheEviction:
    case ReasonType::kEnvironmentChange:
    case ReasonType::kNoStepMark:
      return true;
    case ReasonType::kDtypeChange:
      return cause.is_weak_type();
    default:
      return false;
  }
}

}  // namespace xlaprof
