#include "analyzers/run/fetch_before_gap.h"

#include <algorithm>

#include "analyzers/run/tables.h"
#include "profiler/store/events.h"

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

// Returns the name of the fetch's event without its class, or "" if it was not recorded.
absl::StatusOr<std::string> NameOf(const Run& run, const TransferRow& fetch) {
  const StringId transfer = run.store().Find(TextOf(Category::kTransfer));
  if (!fetch.track_id || transfer == 0) return std::string();
  XP_TRY(EventScanner scanner,
         EventScanner::Make(run.store(), {.columns = kStart | kName | kCategory,
                                          .track_ids = {*fetch.track_id},
                                          .from_ns = fetch.ts_ns,
                                          .to_ns = fetch.ts_ns}));
  EventBatch batch;
  while (true) {
    XP_TRY(const bool more, scanner.Next(&batch));
    if (!more) return std::string();
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.ts_ns[i] != *fetch.ts_ns || batch.category[i] != transfer) continue;
      const std::string_view whole = run.store().Text(batch.name[i]);
      const size_t colons = whole.rfind("::");
      return std::string(colons == std::string_view::npos ? whole : whole.substr(colons + 2));
    }
  }
}

}  // namespace

absl::StatusOr<FetchesBeforeGaps> FetchesBefore(const Run& run, int64_t process_id,
                                                std::span<const Interval> gaps) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  FetchesBeforeGaps fetches;
  for (const Interval& gap : gaps) {
    const TransferRow* fetch = FetchBefore(*transfers, process_id, gap);
    if (fetch == nullptr) continue;
    if (++fetches.gaps > 1) continue;
    XP_TRY(fetches.name, NameOf(run, *fetch));
  }
  return fetches;
}

}  // namespace xlaprof
