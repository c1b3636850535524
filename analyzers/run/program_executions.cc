#include "analyzers/run/program_executions.h"

#include <algorithm>

namespace xlaprof {

absl::StatusOr<ProgramDevices> ProgramDevices::Of(const Run& run) {
  ProgramDevices devices;
  const auto take = [&](int64_t process_id, std::string hash, int64_t count) {
    int64_t& known = devices.counts[{process_id, std::move(hash)}];
    known = std::max(known, count);
  };
  const Store& store = run.whole().store();
  XP_TRY(store.Each(
      "SELECT e.process_id, g.hash, count(DISTINCT e.device) AS devices FROM execution e JOIN "
      "graph g ON g.id = e.graph_id WHERE e.process_id IS NOT NULL AND g.hash IS NOT NULL GROUP BY "
      "1, 2 HAVING devices > 1",
      take));
  // Replicas on threads of one process each write a dump of the graphs of their device.
  XP_TRY(store.Each(
      "SELECT c.process_id, g.hash, count(DISTINCT s.id) AS dumps FROM compile c JOIN graph g ON "
      "g.id = c.graph_id JOIN provenance p ON p.table_name = 'compile' AND p.row_id = c.id JOIN "
      "source s ON s.id = p.source_id AND s.kind = 'executed' WHERE c.process_id IS NOT NULL AND "
      "g.hash IS NOT NULL GROUP BY 1, 2 HAVING dumps > 1",
      take));
  return devices;
}

absl::StatusOr<FirstExecutions> FirstExecutions::Of(const Run& run) {
  FirstExecutions first;
  XP_TRY(first.graphs_, run.Get<Graphs>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) {
    const OptText graph = first.graphs_->IdentityOf(row.graph_id);
    if (!graph || !row.ts_ns || !row.dur_ns) continue;
    first.times_[*graph][row.device.value_or("")].emplace_back(*row.ts_ns, *row.dur_ns);
  }
  for (auto& [graph, devices] : first.times_)
    for (auto& [device, times] : devices) std::ranges::sort(times);
  return first;
}

OptInt FirstExecutions::ExtraNs(OptInt graph_id, int64_t ts_ns) const {
  const OptText graph = graphs_->IdentityOf(graph_id);
  const auto found = graph ? times_.find(*graph) : times_.end();
  if (found == times_.end()) return {};
  int64_t sum_ns = 0, devices = 0;
  for (const auto& [device, times] : found->second) {
    const auto first = std::ranges::lower_bound(times, std::pair(ts_ns, INT64_MIN));
    if (first == times.end() || times.size() < 2) continue;
    std::vector<int64_t> others;
    for (const auto& time : times)
      if (&time != &*first) others.push_back(time.second);
    const auto middle = others.begin() + int64_t(others.size() / 2);
    std::ranges::nth_element(others, middle);
    sum_ns += first->second - *middle;
    ++devices;
  }
  return devices == 0 ? OptInt() : sum_ns / devices;
}

}  // namespace xlaprof
