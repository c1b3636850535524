// Writes Perfetto's protobuf trace, as ui.perfetto.dev and trace_processor read it:
// docs/formats/perfetto_export.md.
#include "exporters/exporter.h"
#include "exporters/perfetto/perfetto_events.h"
#include "exporters/timeline/time_span.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

// Returns the trace's time 0 in the store's time. It is the store's own, unless events lie before
// it and the trace can represent the whole span.
int64_t ShiftedOrigin(const TimeSpan& span) {
  int64_t length_ns;
  if (span.first_ns.value_or(0) >= 0 ||
      __builtin_sub_overflow(*span.last_ns, *span.first_ns, &length_ns))
    return 0;
  return *span.first_ns;
}

absl::StatusOr<Exported> WritePerfetto(const Run& run, const Findings& findings,
                                       const ExportOptions& options) {
  const Store& store = run.store();
  XP_TRY(TimeSpan span, TimeSpanOf(store));
  const int64_t origin_ns = ShiftedOrigin(span);
  XP_TRY(TimelineLayout layout, TimelineLayout::Make(store));
  std::vector<int64_t> track_ids;
  for (const TimelineTrack& track : layout.tracks()) track_ids.push_back(track.track_id);
  XP_TRY(FlowPairs flows, FlowPairs::Read(store, track_ids, FlowPairs::Style::kPairs));
  XP_TRY(std::unique_ptr<Sink> sink, OpenSink(options.path, options.gzip));
  XP_TRY(const Origin origin, OriginOf(store));
  PerfettoPackets packets(store, *sink, span.EpochOf(origin_ns), TextOf(origin));
  PerfettoEvents events(store, flows, origin_ns, packets);

  const uint64_t own = packets.Group("xlaprof: findings and steps");
  absl::flat_hash_map<int64_t, uint64_t> processes;  // by pid
  for (const TimelineProcess& process : layout.processes()) {
    if (process.pid != layout.own_pid())
      processes[process.pid] = packets.Process(process, uint32_t(processes.size()));
  }
  XP_TRY(auto steps, StepMarks(store));
  for (const MarkTrack& track : steps) events.Marks(track, own);
  XP_TRY(MarkTrack found, FindingMarks(store, findings, span.BeginOf(store.slice())));
  events.Marks(found, own);
  uint32_t rank = 0;
  for (const TimelineTrack& track : layout.tracks()) {
    options.progress(double(rank) / double(layout.tracks().size()));
    XP_TRY(events.Track(track, processes[track.pid], rank++));
  }
  absl::flat_hash_map<int64_t, uint64_t> counters;
  for (const TimelineTrack& counter : layout.counters())
    counters[counter.track_id] = packets.Counter(processes[counter.pid], counter.name);
  XP_TRY(events.Counters(counters));
  XP_TRY(packets.Finish());
  XP_TRY(sink->Close());

  Exported exported{.event_count = events.event_count()};
  exported.LeaveOut(events.out_of_time(), "start", " before the trace's 0, or 292 years behind it");
  exported.LeaveOut(events.endless(), "end",
                    " 292 years behind the trace's 0: shown as if there were none");
  exported.LeaveOut(
      flows.left_out(), "flow",
      " that cannot be drawn: its end comes before its beginning, or from too many events");
  exported.LeaveOut(events.not_finite(), "counter value", " without a finite value");
  exported.LeaveOut(events.skipped_chunks(), "damaged chunk", " of events");
  exported.LeaveOut(events.skipped_arguments(), "damaged chunk", " of arguments");
  return exported;
}

}  // namespace

namespace exporters {
extern const Exporter perfetto{"perfetto", "a trace for ui.perfetto.dev and trace_processor",
                               "trace.pftrace", true, WritePerfetto};
}  // namespace exporters

}  // namespace xlaprof
