#include "analyzers/run/tables.h"

#include <algorithm>
#include <map>

namespace xlaprof {

const SiteRow* Sites::Find(OptInt site_id) const {
  if (!site_id) return nullptr;
  const auto site = by_id.find(*site_id);
  return site == by_id.end() ? nullptr : &site->second;
}

Subject Sites::SubjectOf(OptInt site_id) const {
  const SiteRow* site = Find(site_id);
  if (site == nullptr) return {};
  return {.file = site->file, .line = site->line, .function = site->function};
}

Subject Sites::MostFrequent(const std::map<int64_t, int64_t>& count_by_site) const {
  if (count_by_site.empty()) return {};
  const auto most =
      std::ranges::max_element(count_by_site, {}, [](const auto& site) { return site.second; });
  return SubjectOf(most->first);
}

absl::StatusOr<Sites> Sites::Of(const Run& run) {
  XP_TRY(std::vector<SiteRow> rows, run.Rows<SiteRow>());
  Sites sites;
  for (SiteRow& row : rows) {
    const int64_t id = row.id;
    sites.by_id.emplace(id, std::move(row));
  }
  return sites;
}

const GraphRow* Graphs::Find(OptInt graph_id) const {
  if (!graph_id) return nullptr;
  const auto graph = by_id.find(*graph_id);
  return graph == by_id.end() ? nullptr : &graph->second;
}

OptText Graphs::HashOf(OptInt graph_id) const {
  const GraphRow* graph = Find(graph_id);
  return graph == nullptr ? std::nullopt : graph->hash;
}

OptText Graphs::IdentityOf(OptInt graph_id) const {
  if (OptText hash = HashOf(graph_id)) return hash;
  if (!graph_id) return std::nullopt;
  return fmt::format("graph {}", *graph_id);
}

std::vector<const GraphRow*> Graphs::FormsOf(OptInt graph_id) const {
  const GraphRow* graph = Find(graph_id);
  if (graph == nullptr) return {};
  if (!graph->hash) return {graph};
  return by_hash.at(*graph->hash);
}

absl::StatusOr<Graphs> Graphs::Of(const Run& run) {
  XP_TRY(std::vector<GraphRow> rows, run.Rows<GraphRow>("ORDER BY id"));
  Graphs graphs;
  for (GraphRow& row : rows) {
    const int64_t id = row.id;
    graphs.by_id.emplace_hint(graphs.by_id.end(), id, std::move(row));
  }
  for (const auto& [id, graph] : graphs.by_id) {
    if (graph.hash) graphs.by_hash[*graph.hash].push_back(&graph);
  }
  return graphs;
}

const CompilePhases::Parts* CompilePhases::Find(int64_t compile_id) const {
  const auto parts = by_compile.find(compile_id);
  return parts == by_compile.end() ? nullptr : &parts->second;
}

absl::StatusOr<CompilePhases> CompilePhases::Of(const Run& run) {
  CompilePhases phases;
  XP_TRY(const std::vector<CompilePhaseRow> rows, run.Rows<CompilePhaseRow>(""));
  for (const CompilePhaseRow& row : rows)
    phases.by_compile[row.compile_id].emplace_back(row.phase, row.dur_ns);
  return phases;
}

OptInt RequestTime(const ExecutionRow& row) {
  return row.enqueue_ts_ns ? row.enqueue_ts_ns : row.ts_ns;
}

OptInt MostExecutedGraph(const Executions& executions, int64_t process_id) {
  std::map<int64_t, int64_t> count;
  for (const ExecutionRow& row : executions.rows) {
    if (row.graph_id && row.process_id.value_or(0) == process_id) ++count[*row.graph_id];
  }
  const auto most = std::ranges::max_element(count, {}, [](const auto& of) { return of.second; });
  return most == count.end() ? OptInt() : OptInt(most->first);
}

}  // namespace xlaprof
