// torch_xla appends to its files across runs, and not every file shows where a run began. A dump
// never does, a log only when the first graph of the run is compiled again. A file that does (the
// log, else the metrics) has counted the executions of each run. A file that saw equally many in
// all is divided at the same places.
#include <vector>

#include "profiler/import/join/join.h"

namespace xlaprof {
namespace {

// Returns the executions of each run, oldest first, or nothing if no source of the store shows more
// than one run.
absl::StatusOr<std::vector<int64_t>> ExecutionsOfRuns(const Store& store) {
  auto collect = [&](const char* sql) {
    return store.Collect(sql, [](int64_t count) { return count; });
  };
  XP_TRY(std::vector<int64_t> counts,
         collect("SELECT (SELECT count(*) FROM execution e WHERE e.process_id = p.id) "
                 "FROM process p WHERE p.source_id = "
                 "(SELECT p.source_id FROM process p WHERE p.segment > 0 AND EXISTS (SELECT 1 FROM "
                 "execution e WHERE e.process_id = p.id) LIMIT 1) ORDER BY p.segment"));
  if (counts.size() > 1) return counts;
  XP_TRY(counts,
         collect("SELECT max(0, coalesce(max(m.samples), 0)) FROM process p "
                 "LEFT JOIN metrics_report r ON r.process_id = p.id "
                 "LEFT JOIN metric m ON m.report_id = r.id AND m.name = 'ExecuteTime' "
                 "WHERE p.source_id = "
                 "(SELECT p.source_id FROM process p WHERE p.segment > 0 AND EXISTS (SELECT "
                 "1 FROM metrics_report r WHERE r.process_id = p.id) LIMIT 1) "
                 "GROUP BY p.id ORDER BY p.segment"));
  return counts;
}

// The only process of a source.
struct Candidate {
  int64_t source_id = 0, process_id = 0;
  SourceKind kind = SourceKind::kReports;
};

// Divides the only process of a source into one for each run.
absl::Status Divide(Store& store, const Candidate& candidate, const std::vector<int64_t>& counts) {
  const auto [source_id, process_id, kind] = candidate;
  XP_TRY(std::vector<int64_t> ordinals,
         store.Collect(
             "SELECT ordinal FROM execution WHERE process_id = ?1 ORDER BY ordinal",
             [](int64_t o) { return o; }, process_id));
  size_t done = 0;
  int64_t begin = INT64_MIN;
  for (size_t segment = 0; segment < counts.size(); ++segment) {
    done += size_t(counts[segment]);
    // A run's facts end with its last execution, because compiles come before the execution that
    // needs them.
    int64_t end = segment + 1 == counts.size() || done == 0 ? INT64_MAX : ordinals[done - 1];
    if (segment > 0) {
      XP_TRY(int64_t id,
             store.Add(ProcessRow{.source_id = source_id, .segment = int64_t(segment)}));
      for (const char* table : {"execution", "compile", "fallback", "profiler_line"}) {
        XP_TRY(store.Run(fmt::format("UPDATE {} SET process_id = ?2 WHERE process_id = ?1 AND "
                                     "ordinal > ?3 AND ordinal <= ?4",
                                     table),
                         process_id, id, begin, end));
      }
      if (kind == SourceKind::kExecuted) {
        // A dump infers a compile at the first print of a graph; a new run compiles the graph again.
        XP_TRY(store.Run(
            "INSERT INTO compile (process_id, ordinal, graph_id, cause, site_id, stack_id, "
            "inferred) SELECT e.process_id, min(e.ordinal), e.graph_id, e.cause, e.site_id, "
            "e.stack_id, 1 FROM execution e JOIN graph g ON g.id = e.graph_id WHERE "
            "e.process_id = ?1 AND g.hash IS NOT NULL AND g.hash NOT IN (SELECT h.hash FROM "
            "compile c JOIN graph h ON h.id = c.graph_id WHERE c.process_id = ?1 AND h.hash IS NOT "
            "NULL) GROUP BY g.hash",
            id));
      }
    }
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status DivideRuns(Store& store) {
  XP_TRY(std::vector<int64_t> counts, ExecutionsOfRuns(store));
  if (counts.size() < 2) return absl::OkStatus();
  int64_t total = 0;
  for (int64_t count : counts) {
    // there is no such number of executions
    if (__builtin_add_overflow(total, count, &total)) return absl::OkStatus();
  }
  XP_TRY(
      std::vector<Candidate> candidates,
      store.Collect(
          "SELECT p.source_id, min(p.id), coalesce(s.kind, 'reports') FROM process p JOIN source s "
          "ON s.id = p.source_id GROUP BY p.source_id HAVING count(*) = 1 AND (SELECT count(*) "
          "FROM execution e WHERE e.process_id = min(p.id)) = ?1",
          [](int64_t source, int64_t process, SourceKind kind) {
            return Candidate{source, process, kind};
          },
          total));
  for (const Candidate& candidate : candidates) {
    // Other kinds of sources hold no executions without times.
    if (candidate.kind == SourceKind::kLog || candidate.kind == SourceKind::kExecuted)
      XP_TRY(Divide(store, candidate, counts));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
