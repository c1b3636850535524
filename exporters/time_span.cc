#include "exporters/time_span.h"

#include <charconv>

namespace xlaprof {

absl::StatusOr<TimeSpan> TimeSpanOf(const Store& store) {
  TimeSpan span;
  XP_TRY(store.Each(
      "SELECT min(t), max(t) FROM (SELECT min_ts_ns AS t FROM main.event_chunk UNION ALL "
      "SELECT max_end_ns FROM main.event_chunk UNION ALL "
      "SELECT min_ts_ns FROM main.counter_chunk UNION ALL SELECT max_ts_ns FROM "
      "main.counter_chunk UNION ALL SELECT ts_ns FROM main.step UNION ALL SELECT ts_ns + dur_ns "
      "FROM main.step)",
      [&](OptInt first, OptInt last) {
        span.first_ns = first;
        span.last_ns = last;
      }));
  XP_TRY(auto base, store.Meta("base_epoch_ns"));
  int64_t base_ns = 0;
  if (base && std::from_chars(base->data(), base->data() + base->size(), base_ns).ec == std::errc())
    span.base_epoch_ns = base_ns;
  return span;
}

}  // namespace xlaprof
