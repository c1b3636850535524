#include "analyzers/recompile/shape_executions.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/base/xla_shape.h"

namespace xlaprof {

absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Run& run) {
  GraphExecutions of_row;
  XP_TRY(run.store().Each(
      "SELECT graph_id, count(*) FROM execution WHERE graph_id IS NOT NULL GROUP BY 1",
      [&](int64_t graph_id, int64_t times) { of_row[graph_id] = times; }));
  std::map<std::string, std::vector<int64_t>> by_hash;
  XP_TRY(run.store().Each("SELECT id, hash FROM graph WHERE hash IS NOT NULL",
                          [&](int64_t id, std::string hash) { by_hash[hash].push_back(id); }));
  for (const auto& [hash, rows] : by_hash) {
    int64_t times = 0;
    for (int64_t row : rows) {
      if (const auto at = of_row.find(row); at != of_row.end()) times += at->second;
    }
    if (times == 0) continue;
    for (int64_t row : rows) of_row[row] = times;
  }
  return of_row;
}

absl::Status CountOthers(const Run& run, RecompileGroup* group) {
  constexpr size_t kMost = 64;  // of a site with more, the rest are about as the first
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
    std::set<std::string> shapes;
    XP_TRY(run.store().Each(
        "SELECT DISTINCT shape FROM graph_node WHERE graph_id = ?1 AND op = ?2",
        [&](std::string_view shape) { shapes.insert(WithoutLayout(shape)); }, graph_id,
        group->cause().node));
    for (const std::string& shape : shapes) group->other_executions[shape] += times->second;
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
