#include "analyzers/run/unmarked_reads.h"

#include <utility>

namespace xlaprof {
namespace {

constexpr int64_t kFewReads = 3;  // growth needs at least three points to be told from warm-up
constexpr double kGrowth = 1.5;   // the last graph against the first; a steady loop stays at 1

}  // namespace

bool UnmarkedReads::grow() const {
  return first_nodes() && last_nodes() && double(*last_nodes()) >= kGrowth * double(*first_nodes());
}

absl::StatusOr<UnmarkedReads> UnmarkedReads::Of(const Run& run, int64_t process_id) {
  const Store& store = run.store();
  XP_TRY(auto marks, store.One<int64_t>("SELECT count(*) FROM execution WHERE process_id = ?1 AND "
                                        "cause IS NOT NULL AND cause <> 'value_access'",
                                        process_id));
  if (marks.value_or(0) > 0) return UnmarkedReads();
  UnmarkedReads unmarked;
  XP_TRY(unmarked.reads,
         store.Collect(
             "SELECT e.id, coalesce(g.node_count, (SELECT max(node_count) FROM graph h WHERE "
             "h.hash = g.hash)), e.site_id, coalesce(e.dur_ns, e.host_wait_ns) FROM execution e "
             "LEFT JOIN graph g ON g.id = e.graph_id WHERE e.process_id = ?1 AND e.cause = "
             "'value_access' ORDER BY e.ordinal",
             [](int64_t id, OptInt nodes, OptInt site, OptInt dur_ns) {
               return UnmarkedRead{id, nodes, site, dur_ns};
             },
             process_id));
  if (int64_t(unmarked.reads.size()) < kFewReads) return UnmarkedReads();
  XP_TRY(auto counted,
         store.One<int64_t>("SELECT max(mark_step) FROM metrics_report WHERE process_id = ?1",
                            process_id));
  if (counted.value_or(0) > 1)
    return UnmarkedReads();  // marks were set; the log only does not show them
  return unmarked;
}

}  // namespace xlaprof
