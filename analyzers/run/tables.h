// The rows of the run as facts, for rules that read each of them:
//
//   XP_TRY(const Executions* executions, run.Get<Executions>());
//   for (const ExecutionRow& execution : executions->rows) ...
//
// Tables with millions of rows (events, arguments, counters, nodes of graphs) are not available in
// this way. Facts that are derived from them have their own types.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <string>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"

namespace xlaprof {

// All rows of one table, by id.
template <class Row>
struct Table {
  std::vector<Row> rows;

  static absl::StatusOr<Table> Of(const Run& run) {
    XP_TRY(std::vector<Row> rows, run.Rows<Row>("ORDER BY id"));
    return Table{std::move(rows)};
  }
};

using Sources = Table<SourceRow>;
using StepRows = Table<StepRow>;
using Compiles = Table<CompileRow>;
using Executions = Table<ExecutionRow>;
using Transfers = Table<TransferRow>;
using Fallbacks = Table<FallbackRow>;
using ProfilerLines = Table<ProfilerLineRow>;
using MetricsReports = Table<MetricsReportRow>;
using MetricRows = Table<MetricRow>;
using UntiedWeights = Table<UntiedWeightRow>;
using Recordings = Table<RecordingRow>;
using LoaderEpochs = Table<LoaderEpochRow>;
using ObservedProcesses = Table<ObservedProcessRow>;
using ObservedProgress = Table<ObservedProgressRow>;

// The parts of compilations whose source divides them. Those of one compilation do not overlap.
struct CompilePhases {
  using Parts = std::vector<std::pair<CompilePhase, int64_t>>;  // each with its length in ns
  absl::flat_hash_map<int64_t, Parts> by_compile;

  // Returns null if the parts are not known.
  const Parts* Find(int64_t compile_id) const;

  static absl::StatusOr<CompilePhases> Of(const Run& run);
};

// Returns when the host asked for the execution, or else when the device began it; nothing without times.
OptInt RequestTime(const ExecutionRow& row);

// Returns the graph that the process executes most; nothing if none is known.
OptInt MostExecutedGraph(const Executions& executions, int64_t process_id);

// The places in the user's code.
struct Sites {
  absl::flat_hash_map<int64_t, SiteRow> by_id;

  // Returns null for a site that is not known.
  const SiteRow* Find(OptInt site_id) const;
  // Returns file, line and function of a site; an empty subject for one that is not known.
  Subject SubjectOf(OptInt site_id) const;
  // Returns the subject of the site with the highest count, the lowest id of several. Returns an
  // empty subject if there are no counts.
  Subject MostFrequent(const std::map<int64_t, int64_t>& count_by_site) const;

  static absl::StatusOr<Sites> Of(const Run& run);
};

// The printed and unprinted graphs. Several rows may be forms of one graph: they share its hash.
struct Graphs {
  std::map<int64_t, GraphRow> by_id;
  absl::flat_hash_map<std::string, std::vector<const GraphRow*>> by_hash;  // in the order of ids

  Graphs() = default;
  Graphs(Graphs&&) = default;  // `by_hash` points into `by_id`, whose nodes stay
  Graphs& operator=(Graphs&&) = default;

  // Returns null for a graph that is not known.
  const GraphRow* Find(OptInt graph_id) const;
  // Returns the hash of a graph; nothing if it is not known.
  OptText HashOf(OptInt graph_id) const;
  // Returns what is equal for all forms of one graph: the hash, or else the id as text. Returns
  // nothing without an id.
  OptText IdentityOf(OptInt graph_id) const;
  // Returns the forms in which a graph is known, itself included, in the order of ids.
  std::vector<const GraphRow*> FormsOf(OptInt graph_id) const;

  static absl::StatusOr<Graphs> Of(const Run& run);
};

}  // namespace xlaprof
