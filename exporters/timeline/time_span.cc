#include "exporters/timeline/time_span.h"

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
  XP_TRY(span.base_epoch_ns, store.MetaNs("base_epoch_ns"));
  return span;
}

}  // namespace xlaprof
