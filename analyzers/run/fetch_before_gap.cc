#include "analyzers/run/fetch_before_gap.h"

#include <algorithm>

#include "analyzers/run/each_batch.h"
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

// Returns the name of the fetch's event without its class, or "" if it was not recorded. Its event
// may begin shortly before the fetch, to wait for the value, and its thread may be unknown.
absl::StatusOr<std::string> NameOf(const Run& run, const TransferRow& fetch) {
  const StringId transfer = run.store().Find(TextOf(Category::kTransfer));
  if (transfer == 0) return std::string();
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .from_ns = fetch.ts_ns,
                                .to_ns = fetch.ts_ns};
  if (fetch.track_id) options.track_ids = {*fetch.track_id};
  const int64_t end_ns = *fetch.ts_ns + *fetch.dur_ns;
  int64_t begin_ns = INT64_MIN;
  std::string name;
  XP_TRY(EachEvent(run.store(), std::move(options), [&](const EventBatch& batch, size_t i) {
    const int64_t ts_ns = batch.ts_ns[i];
    const bool is_around = ts_ns <= *fetch.ts_ns && ts_ns + batch.dur_ns[i] >= end_ns;
    if (!is_around || batch.category[i] != transfer || ts_ns < begin_ns) return;
    begin_ns = ts_ns;
    const std::string_view whole = run.store().Text(batch.name[i]);
    const size_t colons = whole.rfind("::");
    name = colons == std::string_view::npos ? whole : whole.substr(colons + 2);
  }));
  return name;
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
