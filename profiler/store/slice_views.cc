#include "profiler/store/slice_views.h"

#include <algorithm>

#include "profiler/store/tables.h"

namespace xlaprof {

namespace {

// A window that contains no event, whatever the event's times. Its length also fits an int64_t.
constexpr int64_t kNeverFromNs = int64_t{1} << 62, kNeverToNs = -kNeverFromNs;

std::string OfProcess(const Slice& slice) {
  return slice.process_id
             ? fmt::format(" AND (process_id IS NULL OR process_id = {})", *slice.process_id)
             : "";
}

}  // namespace

absl::StatusOr<Slice> WithTimesOfSteps(const Store& store, Slice slice) {
  if (slice.process_id) {
    XP_TRY(auto known,
           store.One<int64_t>("SELECT id FROM process WHERE id = ?1", *slice.process_id));
    if (!known)
      return NotFound(
          "no process {} in this store. `xlaprof query PATH 'SELECT * FROM process'` lists them",
          *slice.process_id);
  }
  if (!slice.first_step && !slice.last_step) return slice;
  const int64_t first = slice.first_step.value_or(INT64_MIN),
                last = slice.last_step.value_or(INT64_MAX);
  const std::string of_process = OfProcess(slice);
  auto of_steps = [&](std::string_view what, int64_t from = INT64_MIN, int64_t to = INT64_MAX) {
    return store.One<int64_t>(
        fmt::format("SELECT {} FROM step WHERE coalesce(number, ordinal) BETWEEN ?1 AND ?2{}", what,
                    of_process),
        from, to);
  };
  XP_TRY(auto count, of_steps("count(*)", first, last));
  if (count.value_or(0) == 0) {
    XP_TRY(auto low, of_steps("min(coalesce(number, ordinal))"));
    XP_TRY(auto high, of_steps("max(coalesce(number, ordinal))"));
    const char* whose = slice.process_id ? "process" : "run";
    if (!low) {
      return NotFound("--steps: no source of this {} shows steps. Use --from and --to", whose);
    }
    return NotFound("--steps: no step is in that range. The steps of this {} are {} to {}", whose,
                    *low, *high);
  }
  XP_TRY(auto from, of_steps("min(ts_ns)", first, last));
  XP_TRY(auto to, of_steps("max(ts_ns + dur_ns)", first, last));
  if (!from) {  // all events belong to other steps
    slice.from_ns = kNeverFromNs, slice.to_ns = kNeverToNs;
    return slice;
  }
  slice.from_ns = std::max(*from, slice.from_ns.value_or(INT64_MIN));
  if (to) slice.to_ns = std::min(*to, slice.to_ns.value_or(INT64_MAX));
  return slice;
}

absl::Status MakeSliceViews(const Store& store, const Slice& slice) {
  const std::string process = OfProcess(slice);
  const std::string steps =
      slice.first_step || slice.last_step
          ? fmt::format(" AND coalesce(number, ordinal) BETWEEN {} AND {}",
                        slice.first_step.value_or(INT64_MIN), slice.last_step.value_or(INT64_MAX))
          : "";
  auto in_time = [&](const char* start, const char* end) {
    std::string out;
    if (slice.from_ns) out += fmt::format(" AND {} >= {}", end, *slice.from_ns);
    if (slice.to_ns) out += fmt::format(" AND {} <= {}", start, *slice.to_ns);
    return out;
  };
  XP_TRY(store.Exec(fmt::format("CREATE TEMP VIEW step AS SELECT * FROM main.step WHERE 1{}{}{}",
                                process, steps, in_time("ts_ns", "ts_ns + dur_ns"))));
  for (const TableTraits& table : kTables) {
    if (!table.Has("process_id") || table.outlives_run || table.name == StepRow::kTable) continue;
    std::string where = process;
    if (table.Has("step_id") && !steps.empty()) where += " AND step_id IN (SELECT id FROM step)";
    if (table.Has("ts_ns")) {
      where += in_time(table.Has("enqueue_ts_ns") ? "coalesce(enqueue_ts_ns, ts_ns)" : "ts_ns",
                       table.Has("dur_ns") ? "coalesce(ts_ns + dur_ns, ts_ns)" : "ts_ns");
    }
    XP_TRY(store.Exec(fmt::format("CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE 1{1}",
                                  table.name, where)));
  }
  if (!slice.process_id) return absl::OkStatus();
  for (const char* table : {"metric", "counter"}) {
    XP_TRY(
        store.Exec(fmt::format("CREATE TEMP VIEW {0} AS SELECT * FROM main.{0} WHERE report_id "
                               "IN (SELECT id FROM metrics_report)",
                               table)));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
