#include "analyzers/recompile/turns.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/tables.h"

namespace xlaprof {

absl::StatusOr<Turns> Turns::Of(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::vector<const ExecutionRow*> in_order;
  for (const ExecutionRow& row : executions->rows) in_order.push_back(&row);
  std::ranges::stable_sort(in_order, std::less<>(), &ExecutionRow::ordinal);
  Turns turns;
  for (const ExecutionRow* row : in_order) {
    const OptText graph = graphs->IdentityOf(row->graph_id);
    if (!graph) continue;
    Place& place = turns.places_[{row->process_id.value_or(0), row->site_id}];
    place.others += place.executions > 0 && place.last != *graph;
    ++place.executions;
    place.last = *graph;
  }
  return turns;
}

bool Turns::AreTakenAt(const CompileSite& site) const {
  const auto place = places_.find({site.process_id, site.site_id});
  return place != places_.end() && double(place->second.others) >=
                                       policy::kTakesTurnsShare * double(place->second.executions);
}

}  // namespace xlaprof
