#include "analyzers/run/unmarked_reads.h"

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/run/graph_nodes.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
bool UnmarkedReads::grow() const {
  return first_nodes() && last_nodes() &&
         double(*last_nodes()) >= policy::kGraphGrowth * double(*first_nodes());
}

absl::StatusOr<UnmarkedReads> UnmarkedReads::Of(const Run& run, int64_t process_id) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::vector<const ExecutionRow*> reads;
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id != process_id || !row.cause) continue;
    if (*row.cause != CutKind::kValueAccess) return UnmarkedReads();  // a step mark
    reads.push_back(&row);
  }
  if (int64_t(reads.size()) < policy::kReadsThatShowGrowth) return UnmarkedReads();
  XP_TRY(const MetricsReports* reports, run.Get<MetricsReports>());
  for (const MetricsReportRow& report : reports->rows) {
    // Step marks were set, but the log does not show them.
    if (report.process_id == process_id && report.mark_step.value_or(0) > 1) return UnmarkedReads();
  }
  std::ranges::stable_sort(reads, std::less<>(), &ExecutionRow::ordinal);
  UnmarkedReads unmarked;
  for (const ExecutionRow* row : reads) {
    OptInt nodes, inputs;
    if (const GraphRow* graph = graphs->Find(row->graph_id))
      nodes = graph->node_count, inputs = graph->input_count;
    if (!nodes) {
      for (const GraphRow* form : graphs->FormsOf(row->graph_id))
        nodes = std::max(nodes, form->node_count);
    }
    UnmarkedRead read{.id = row->id,
                      .nodes = nodes,
                      .inputs = inputs,
                      .graph = graphs->IdentityOf(row->graph_id).value_or(""),
                      .site_id = row->site_id,
                      .dur_ns = row->dur_ns ? row->dur_ns : row->host_wait_ns};
    if (!row->site_id && row->graph_id) {
      XP_TRY(const GraphResults* results, run.Get<GraphResults>(*row->graph_id));
      if (results->are_placed) read.value = results->ops;
    }
    unmarked.reads.push_back(std::move(read));
  }
  return unmarked;
}

}  // namespace xlaprof
