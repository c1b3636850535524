#include "analyzers/run/cache_clears.h"

#include <algorithm>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/user_call.h"
#include "profiler/store/events.h"

namespace xlaprof {
bool CacheClears::AnyBetween(int64_t from_ns, int64_t to_ns) const {
  const auto first = std::ranges::lower_bound(starts_ns, from_ns);
  return first != starts_ns.end() && *first <= to_ns;
}

absl::StatusOr<CacheClears> CacheClears::Of(const Run& run) {
  CacheClears clears;
  XP_TRY(const auto names, NamesOfJaxCalls(run.store(), "clear_caches"));
  if (names.empty()) return clears;
  int64_t first_track = 0;
  XP_TRY(EachEvent(
      run.store(),
      {.columns = kStart | kName, .categories = {run.store().Find(TextOf(Category::kPython))}},
      [&](const EventBatch& batch, size_t i) {
        if (!names.contains(batch.name[i])) return;
        if (clears.starts_ns.empty() ||
            batch.ts_ns[i] < *std::ranges::min_element(clears.starts_ns))
          first_track = batch.track_id;
        clears.starts_ns.push_back(batch.ts_ns[i]);
      }));
  std::ranges::sort(clears.starts_ns);
  if (clears.starts_ns.empty()) return clears;
  XP_TRY(clears.caller, UserCallAt(run, first_track, clears.starts_ns.front()));
  return clears;
}

}  // namespace xlaprof
