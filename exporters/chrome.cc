// Writes Chrome's trace event format, as Perfetto and chrome://tracing read it:
// docs/formats/chrome_export.md.
#include <algorithm>

#include "base/version.h"
#include "exporters/chrome/chrome_events.h"
#include "exporters/exporter.h"
#include "exporters/output/json_text.h"
#include "exporters/timeline/marks.h"
#include "exporters/timeline/time_span.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

// Later times are no longer exact as a double of microseconds.
constexpr int64_t kMaxExactNs = 100LL * 24 * 3600 * 1'000'000'000;

// Returns the trace's time 0 in the store's time. It is the store's own, unless events lie before
// it or too far after it.
int64_t ExactOrigin(const TimeSpan& span) {
  if (!span.first_ns) return 0;
  return *span.first_ns < 0 || *span.last_ns > kMaxExactNs ? *span.first_ns : 0;
}

absl::Status Header(const Store& store, const TimeSpan& span, int64_t origin_ns, JsonWriter& json) {
  json.Raw("{\"displayTimeUnit\":\"ns\",\n");
  XP_TRY(const Origin origin, OriginOf(store));
  std::string other =
      fmt::format("\"exporter\":\"xlaprof {}\",\"origin\":\"{}\"", kVersion, TextOf(origin));
  if (OptInt base_ns = span.EpochOf(origin_ns)) {
    // The key is Kineto's name for the Unix time of the trace's 0. The string is for readers that
    // hold numbers as doubles.
    json.Raw(fmt::format("\"baseTimeNanoseconds\":{},\n", *base_ns));
    other += fmt::format(",\"base_epoch_ns\":\"{}\"", *base_ns);
  }
  XP_TRY(auto label, store.Meta("run_label"));
  if (label) other += ",\"run\":" + JsonString(*label);
  json.Raw("\"otherData\":{" + other + "},\n\"traceEvents\":[");
  return absl::OkStatus();
}

// Writes the first record, so that all others can begin with a comma, then names and order of all
// groups.
void Groups(const TimelineLayout& layout, ChromeEvents& events, JsonWriter& json) {
  json.Raw(
      fmt::format("\n{{\"ph\":\"M\",\"pid\":{},\"tid\":0,\"name\":\"process_sort_index\","
                  "\"args\":{{\"sort_index\":-1}}}}",
                  layout.own_pid()));
  int64_t sort = 0;
  for (const TimelineProcess& process : layout.processes()) {
    events.Metadata(process.pid, 0, "process_name", "name", JsonString(process.name));
    if (!process.labels.empty())
      events.Metadata(process.pid, 0, "process_labels", "labels", JsonString(process.labels));
    if (process.pid != layout.own_pid())
      events.Metadata(process.pid, 0, "process_sort_index", "sort_index", fmt::to_string(sort));
    ++sort;
  }
}

absl::Status Counters(const Store& store, const TimelineLayout& layout, const ChromeEvents& events,
                      JsonWriter& json, int64_t* not_finite) {
  absl::flat_hash_map<int64_t, std::string> heads;
  for (const TimelineTrack& counter : layout.counters()) {
    heads[counter.track_id] =
        fmt::format(",\n{{\"ph\":\"C\",\"pid\":{},\"tid\":0,\"name\":{},\"ts\":", counter.pid,
                    JsonString(counter.name));
  }
  return EachCounterBatch(store, [&](const CounterBatch& batch) {
    auto head = heads.find(batch.track_id);
    if (head == heads.end()) return absl::OkStatus();
    for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
      if (!std::isfinite(batch.value[i])) {
        ++*not_finite;
        continue;
      }
      json.Raw(head->second);
      json.Micros(events.RelativeNs(batch.ts_ns[i]));
      json.Raw(",\"args\":{\"value\":");
      json.Real(batch.value[i]);
      json.Raw("}}");
    }
    return absl::OkStatus();
  });
}

// Returns the colour's name in chrome://tracing.
const char* ColourOf(Severity severity) {
  return severity == Severity::kError     ? "terrible"
         : severity == Severity::kWarning ? "bad"
                                          : "grey";
}

void Marks(const MarkTrack& track, int64_t sort, TimelineLayout& layout, ChromeEvents& events,
           JsonWriter& json) {
  TimelineTrack thread{.pid = layout.own_pid(), .name = track.name};
  Lanes lanes;
  std::vector<int64_t> tids;
  const bool coloured = std::string_view(track.category) == "xlaprof.finding";
  for (const Mark& mark : track.marks) {
    int64_t end_ns;
    if (__builtin_add_overflow(mark.ts_ns, mark.dur_ns, &end_ns)) end_ns = INT64_MAX;
    const size_t lane = lanes.Place(mark.ts_ns, end_ns);
    while (tids.size() <= lane) {
      tids.push_back(layout.NewTid());
      events.NameThread(thread, tids.back(), tids.size() - 1,
                        (sort << 20) + int64_t(tids.size()) - 1);
    }
    json.Raw(fmt::format(",\n{{\"ph\":\"{}\",\"pid\":{},\"tid\":{},\"ts\":",
                         mark.dur_ns > 0 ? 'X' : 'i', thread.pid, tids[lane]));
    json.Micros(events.RelativeNs(mark.ts_ns));
    if (mark.dur_ns > 0) {
      json.Raw(",\"dur\":");
      json.Micros(uint64_t(mark.dur_ns));
    } else {
      json.Raw(",\"s\":\"t\"");
    }
    json.Raw(fmt::format(",\"cat\":\"{}\",\"name\":", track.category));
    json.Raw(JsonString(mark.name));
    if (coloured) json.Raw(fmt::format(",\"cname\":\"{}\"", ColourOf(mark.severity)));
    json.Raw(",\"args\":");
    json.Raw(JsonOf(mark.arguments));
    json.Raw("}");
  }
}

absl::StatusOr<Exported> WriteChrome(const Run& run, const Findings& findings,
                                     const ExportOptions& options) {
  const Store& store = run.store();
  XP_TRY(TimeSpan span, TimeSpanOf(store));
  const int64_t origin_ns = ExactOrigin(span);
  XP_TRY(TimelineLayout layout, TimelineLayout::Make(store));
  std::vector<int64_t> threads;
  for (const TimelineTrack& track : layout.tracks()) {
    if (!track.is_async) threads.push_back(track.track_id);
  }
  XP_TRY(FlowPairs flows, FlowPairs::Read(store, threads, FlowPairs::Style::kRecords));
  XP_TRY(std::unique_ptr<Sink> sink, OpenSink(options.path, options.gzip));
  JsonWriter json(*sink);
  ChromeEvents events(store, layout, flows, origin_ns, json);

  XP_TRY(Header(store, span, origin_ns, json));
  Groups(layout, events, json);
  XP_TRY(auto steps, StepMarks(store));
  int64_t sort = 0;
  for (const MarkTrack& track : steps) Marks(track, sort++, layout, events, json);
  XP_TRY(MarkTrack found, FindingMarks(store, findings, span.BeginOf(store.slice())));
  Marks(found, sort, layout, events, json);
  uint32_t rank = 0;
  for (const TimelineTrack& track : layout.tracks()) {
    options.progress(double(rank) / double(layout.tracks().size()));
    XP_TRY(events.Track(track, track.is_async ? 0 : rank++));
  }
  int64_t not_finite = 0;
  XP_TRY(Counters(store, layout, events, json, &not_finite));

  Exported exported{.event_count = events.event_count()};
  exported.LeaveOut(
      flows.left_out(), "flow",
      " that cannot be drawn: its end comes before its beginning, or too many share an event");
  exported.LeaveOut(not_finite, "counter value", " without a finite value");
  exported.LeaveOut(events.skipped_chunks(), "damaged chunk", " of events");
  exported.LeaveOut(events.skipped_arguments(), "damaged chunk", " of arguments");
  json.Raw("\n]");
  if (!exported.left_out.empty()) {
    json.Raw(",\n\"leftOut\":[");
    for (size_t i = 0; i < exported.left_out.size(); ++i)
      json.Raw((i > 0 ? "," : "") + JsonString(exported.left_out[i]));
    json.Raw("]");
  }
  json.Raw("}\n");
  XP_TRY(json.Finish());
  XP_TRY(sink->Close());
  return exported;
}

}  // namespace

namespace exporters {
extern const Exporter chrome{"chrome", "a timeline for ui.perfetto.dev and chrome://tracing",
                             "trace.json.gz", true, WriteChrome};
}  // namespace exporters

}  // namespace xlaprof
