#include "profiler/import/join/join.h"

#include "profiler/import/import.h"
#include "profiler/store/tables.h"

namespace xlaprof {

absl::Status DropProcesses(Store& store, const std::string& which) {
  for (const char* table : {"metric", "counter"}) {
    XP_TRY(store.Exec(fmt::format(
        "DELETE FROM {} WHERE report_id IN (SELECT id FROM metrics_report WHERE process_id IN {})",
        table, which)));
  }
  XP_TRY(
      store.Exec("DELETE FROM metric_percentile WHERE metric_id NOT IN (SELECT id FROM metric)"));
  for (const TableTraits& table : kTables) {
    if (!table.Has("process_id") || table.outlives_run) continue;
    if (table.Has("id")) {
      XP_TRY(
          store.Exec(fmt::format("DELETE FROM provenance WHERE table_name = '{0}' AND row_id IN "
                                 "(SELECT id FROM {0} WHERE process_id IN {1})",
                                 table.name, which)));
    }
    XP_TRY(store.Exec(fmt::format("DELETE FROM {} WHERE process_id IN {}", table.name, which)));
  }
  for (const char* table : {"compile_reason", "compile_phase"}) {
    XP_TRY(store.Exec(
        fmt::format("DELETE FROM {} WHERE compile_id NOT IN (SELECT id FROM compile)", table)));
  }
  // Graphs are kept because a fact that stays may refer to their hash: a dump prints a graph only
  // the first time.
  return store.Exec(
      fmt::format("UPDATE graph SET process_id = (SELECT min(id) FROM process WHERE run_id IN "
                  "(SELECT id FROM run WHERE selected) AND id NOT IN {0}) "
                  "WHERE process_id IN {0}; DELETE FROM process WHERE id IN {0};",
                  which));
}

// Drops the facts of runs that were not chosen; the runs stay listed.
static absl::Status DropOtherRuns(Store& store) {
  constexpr const char* kOther =
      "(SELECT id FROM process WHERE run_id IN (SELECT id FROM run WHERE selected = 0))";
  XP_TRY(auto other,
         store.One<int64_t>(fmt::format("SELECT count(*) FROM process WHERE id IN {}", kOther)));
  if (other.value_or(0) == 0) return absl::OkStatus();
  return DropProcesses(store, kOther);
}

absl::Status JoinSources(Store& store) {
  XP_TRY(DropCopies(store));
  XP_TRY(JoinFacts(store));
  XP_TRY(DropOtherRuns(store));
  XP_TRY(JoinSteps(store));
  return JoinCosts(store);
}

}  // namespace xlaprof
