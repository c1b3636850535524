#include "analyzers/run/work_unit.h"

#include <algorithm>
#include <map>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

namespace xlaprof {

absl::StatusOr<WorkUnit> WorkUnit::Of(const Run& run) {
  WorkUnit unit;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  if (!steps->all.empty() || (metrics->last && metrics->last->mark_step)) return unit;
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  // A program on several devices runs on each of them at once.
  std::map<std::string, std::map<std::pair<OptInt, OptText>, std::vector<int64_t>>> by_name;
  int64_t all_ns = 0;
  for (const ExecutionRow& row : executions->rows) {
    if (!row.ts_ns || row.dur_ns.value_or(0) <= 0) continue;
    all_ns += *row.dur_ns;
    const GraphRow* graph = graphs->Find(row.graph_id);
    if (graph != nullptr && graph->name)
      by_name[*graph->name][{row.process_id, row.device}].push_back(*row.dur_ns);
  }
  for (auto& [name, by_device] : by_name) {
    int64_t ns = 0;
    std::vector<int64_t>* most = nullptr;
    for (auto& [device, lengths] : by_device) {
      for (int64_t length_ns : lengths) ns += length_ns;
      if (most == nullptr || lengths.size() > most->size()) most = &lengths;
    }
    const double share = double(ns) / double(all_ns);
    if (share < policy::kUnitShare || int64_t(most->size()) < policy::kUnitExecutions) continue;
    std::ranges::sort(*most);
    unit.program = Program{name, int64_t(most->size()), Median(*most).value_or(0), share};
  }
  return unit;
}

}  // namespace xlaprof
