#include "analyzers/report/recording_cost.h"

namespace xlaprof {
namespace {

// Returns SQL for the sum of a kind of loss of the process.
std::string Lost(std::string_view code) {
  return fmt::format(
      "coalesce((SELECT sum(i.count) FROM import_issue i "
      "WHERE i.source_id = p.source_id AND i.code = '{}'), 0)",
      code);
}

}  // namespace

absl::StatusOr<std::vector<RecordingCost>> RecordingCosts(const Run& run) {
  XP_TRY(const bool has_recordings, run.store().HasRows("recording"));
  if (!has_recordings) return std::vector<RecordingCost>();
  return run.store().Collect(
      "SELECT coalesce(p.name, ''), p.pid, r.ended, r.drain_cpu_ns, count(t.track_id), "
      "coalesce(sum(t.events), 0), coalesce(sum(t.dropped), 0), " +
          Lost("unwritten_events") + ", " + Lost("unrecorded_events") +
          ", "
          "(SELECT max(c.max_end_ns) - min(c.min_ts_ns) FROM event_chunk c JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id), "
          "(SELECT coalesce(sum(length(c.columns)), 0) FROM event_chunk c JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id) + (SELECT coalesce(sum(length(a.columns)), 0) "
          "FROM arg_chunk a JOIN event_chunk c ON c.id = a.event_chunk_id JOIN track k ON k.id = "
          "c.track_id WHERE k.process_id = r.process_id) + (SELECT coalesce(sum(length(c.columns)), 0) "
          "FROM counter_chunk c JOIN track k ON k.id = c.track_id WHERE k.process_id = r.process_id) "
          "FROM recording r JOIN process p ON p.id = r.process_id LEFT JOIN recording_thread t ON "
          "t.recording_id = r.id GROUP BY r.id ORDER BY r.id",
      [](std::string program, OptInt pid, bool ended, OptInt drain_cpu_ns, int64_t threads,
         int64_t events, int64_t dropped, int64_t unwritten, int64_t ringless, OptInt span_ns,
         int64_t bytes) {
        return RecordingCost{.program = std::move(program),
                             .pid = pid,
                             .ended = ended,
                             .threads = threads,
                             .events = events,
                             .dropped = dropped + ringless,
                             .drain_cpu_ns = drain_cpu_ns,
                             .span_ns = span_ns,
                             .bytes = bytes,
                             .unwritten = unwritten,
                             .ringless = ringless};
      });
}

}  // namespace xlaprof
