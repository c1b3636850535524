#include "analyzers/run/fetch_before_gap.h"

#include <algorithm>

#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns the first fetch that ends in the first half of the gap, or shortly before it, or null.
const TransferRow* FetchBefore(const Transfers& transfers, int64_t process_id,
                               const Interval& gap) {
  const int64_t middle_ns = gap.begin_ns + gap.length_ns() / 2;
  const int64_t shortly_before_ns = gap.begin_ns - gap.length_ns() / 10;
  const auto found = std::ranges::find_if(transfers.rows, [&](const TransferRow& row) {
    if (row.direction != Direction::kFromDevice || !row.ts_ns || !row.dur_ns) return false;
    const int64_t end_ns = *row.ts_ns + *row.dur_ns;
    return row.process_id.value_or(0) == process_id && end_ns >= shortly_before_ns &&
           end_ns <= middle_ns;
  });
  return found == transfers.rows.end() ? nullptr : &*found;
}

absl::StatusOr<std::string> NameOf(const Run& run, const TransferRow& fetch) {
  if (!fetch.track_id) return std::string();
  XP_TRY(const auto name, run.store().One<std::string>(
                              "SELECT name FROM event WHERE track_id = ?1 AND ts_ns = ?2 AND "
                              "category = 'transfer' ORDER BY depth LIMIT 1",
                              *fetch.track_id, *fetch.ts_ns));
  const std::string whole = name.value_or("");
  const size_t colons = whole.rfind("::");
  return colons == std::string::npos ? whole : whole.substr(colons + 2);
}

}  // namespace

absl::StatusOr<FetchesBeforeGaps> FetchesBefore(
    const Run& run, int64_t process_id, std::span<const std::pair<int64_t, Interval>> gaps) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  FetchesBeforeGaps fetches;
  for (const auto& [part_ns, gap] : gaps) {
    const TransferRow* fetch = FetchBefore(*transfers, process_id, gap);
    if (fetch == nullptr) continue;
    if (++fetches.gaps > 1) continue;
    XP_TRY(fetches.name, NameOf(run, *fetch));
  }
  return fetches;
}

}  // namespace xlaprof
