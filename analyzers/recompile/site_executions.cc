#include "analyzers/recompile/site_executions.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/graph_nodes.h"
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

absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  GraphExecutions of_row;
  for (const ExecutionRow& row : executions->rows) {
    if (row.graph_id) ++of_row[*row.graph_id];
  }
  for (const auto& [hash, forms] : graphs->by_hash) {
    int64_t times = 0;
    for (const GraphRow* form : forms) {
      if (const auto at = of_row.find(form->id); at != of_row.end()) times += at->second;
    }
    if (times == 0) continue;
    for (const GraphRow* form : forms) of_row[form->id] = times;
  }
  return of_row;
}

absl::StatusOr<std::set<int64_t>> ProcessesWithUnknownGraphs(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  struct Counts {
    int64_t all = 0, unknown = 0;
  };
  std::map<int64_t, Counts> counts;  // by process
  for (const ExecutionRow& row : executions->rows) {
    Counts& of_process = counts[row.process_id.value_or(0)];
    ++of_process.all;
    of_process.unknown += !row.graph_id;
  }
  std::set<int64_t> processes;
  for (const auto& [process_id, of_process] : counts) {
    if (of_process.unknown * policy::kUnknownGraphsPart > of_process.all)
      processes.insert(process_id);
  }
  return processes;
}

absl::Status CountOthers(const Run& run, RecompileGroup* group) {
  constexpr size_t kMost = 64;  // graphs; further ones are usually similar
  if (group->cause().type != ReasonType::kShapeChange) return absl::OkStatus();
  std::set<int64_t> known;
  for (const RecompileCause& cause : group->causes) {
    for (OptInt row : {cause.graph_before, cause.graph_after}) {
      if (row) known.insert(*row);
    }
  }
  size_t counted = 0;
  for (const CompileFact& compile : group->site->compiles) {
    const bool is_known = std::ranges::any_of(
        compile.forms, [&](const auto& form) { return known.contains(form.second); });
    if (known.empty() || is_known || compile.forms.empty() || counted == kMost) continue;
    for (const auto& [form, row] : compile.forms) known.insert(row);
    const int64_t graph_id = compile.forms.front().second;
    const auto times = group->executions->find(graph_id);
    if (times == group->executions->end()) continue;
    ++counted;
    XP_TRY(const std::set<std::string> shapes, ShapesOfOp(run, graph_id, group->cause().node));
    for (const std::string& shape : shapes) group->other_executions[shape] += times->second;
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
