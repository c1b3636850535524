// Writes XSpace, as XLA's profiler writes it and XProf reads it: docs/formats/xspace_export.md.
#include <map>

#include "exporters/exporter.h"
#include "exporters/timeline/marks.h"
#include "exporters/timeline/overlap.h"
#include "exporters/timeline/time_span.h"
#include "exporters/xspace/xspace_events.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

// Field numbers of XSpace and XPlane.
constexpr uint32_t kPlane = 1, kHost = 4;
constexpr uint32_t kPlaneId = 1, kPlaneName = 2, kPlaneStat = 6;
constexpr uint32_t kEventStat = 4;
// Ids of lines that this exporter adds, and that the importer must skip.
constexpr int64_t kAddedLineId = int64_t(1) << 40;
// Programs built on protobuf refuse larger files.
constexpr uint64_t kMaxProtobufBytes = INT32_MAX;

struct Times {
  TimeSpan span;
  int64_t origin_ns = 0;  // the file's 0, in the store's time
  int64_t end_ns = 0;
};

absl::StatusOr<Times> TimesOf(const Store& store) {
  Times times;
  XP_TRY(times.span, TimeSpanOf(store));
  // XProf accepts no times before 0.
  times.origin_ns = std::min<int64_t>(0, times.span.first_ns.value_or(0));
  times.end_ns = times.span.last_ns.value_or(0);
  return times;
}

class XSpaceExport {
 public:
  XSpaceExport(const Store& store, const Findings& findings, const ExportOptions& options,
               const Times& times, ProtoFile& file, XSpaceEvents& events)
      : store_(store),
        findings_(findings),
        options_(options),
        times_(times),
        file_(file),
        events_(events) {}

  absl::StatusOr<Exported> Run() {
    XP_TRY(std::vector<XSpacePlane> planes, XSpaceLayout(store_));
    size_t lines = 0, done = 0;
    for (const XSpacePlane& plane : planes) lines += plane.lines.size();
    XP_TRY(TaskEnvironment());
    for (const XSpacePlane& plane : planes) {
      XSpaceTables tables(store_);
      BeginPlane(plane.name);
      for (const XSpaceLine& line : plane.lines) {
        options_.progress(double(done++) / double(lines));
        XP_TRY(events_.Line(plane, line, tables));
      }
      XP_TRY(events_.Counters(plane, tables));
      if (plane.is_tpu() && !plane.has_steps) XP_TRY(DeviceSteps(plane, tables));
      PlaneStats(plane, tables);
      EndPlane(tables);
    }
    XP_TRY(FindingLines());
    XP_TRY(Hosts());
    XP_TRY(LeftOut());
    XP_TRY(file_.Close());
    return std::move(exported_);
  }

 private:
  void BeginPlane(std::string_view name) {
    file_.Begin(kPlane);
    ProtoText head;
    head.Varint(kPlaneId, uint64_t(++last_plane_id_));
    head.Bytes(kPlaneName, ProtoString(name));
    file_.Write(head);
  }

  void EndPlane(const XSpaceTables& tables) {
    tables.Write(file_);
    file_.End();
  }

  void PlaneStats(const XSpacePlane& plane, XSpaceTables& tables) {
    ProtoText stats;
    if (plane.pid)
      tables.PutUint(kPlaneStat, tables.Added("process_id"), uint64_t(*plane.pid), stats);
    if (plane.device)
      tables.PutString(kPlaneStat, tables.Added("xlaprof_device"), *plane.device, stats);
    for (const XSpaceLine& line : plane.lines) {
      if (line.is_async)
        tables.PutUint(kPlaneStat, tables.Added("xlaprof_async_line"), uint64_t(line.id), stats);
    }
    file_.Write(stats);
  }

  void AddedLine(int64_t id, XSpaceTables& tables) {
    ProtoText stat;
    tables.PutUint(kPlaneStat, tables.Added("xlaprof_added_line"), uint64_t(id), stat);
    file_.Write(stat);
  }

  // Adds a line Steps, because XProf times a TPU's steps only by that line. A step lasts from the
  // first to the last execution that it launched.
  absl::Status DeviceSteps(const XSpacePlane& plane, XSpaceTables& tables) {
    struct Step {
      int64_t number, ts_ns, dur_ns;
    };
    const std::string device = plane.device.value_or(plane.name.substr(sizeof "/device:" - 1));
    XP_TRY(
        std::vector<Step> steps,
        store_.Collect(
            "SELECT coalesce(s.number, s.ordinal), min(e.ts_ns), max(e.ts_ns + e.dur_ns) - "
            "min(e.ts_ns) FROM "
            "execution e JOIN step s ON s.id = e.step_id WHERE e.device = ?1 AND e.process_id IS "
            "?2 AND e.ts_ns IS NOT NULL AND e.dur_ns IS NOT NULL GROUP BY s.id ORDER BY 2, 3",
            [](int64_t number, int64_t ts_ns, int64_t dur_ns) {
              return Step{number, ts_ns, dur_ns};
            },
            device, plane.process_id));
    if (steps.empty()) return absl::OkStatus();
    events_.BeginLine({.id = kAddedLineId, .name = "Steps"}, steps[0].ts_ns);
    for (const Step& step : steps)
      events_.PutEvent(tables.Name(fmt::to_string(step.number)), step.ts_ns,
                       std::max<int64_t>(0, step.dur_ns), {});
    events_.EndLine();
    AddedLine(kAddedLineId, tables);
    return absl::OkStatus();
  }

  // Puts findings on a device of a kind that XProf does not analyse, so that they do not change its
  // counts.
  absl::Status FindingLines() {
    XP_TRY(
        MarkTrack track,
        FindingMarks(store_, findings_, std::max<int64_t>(0, times_.span.BeginOf(store_.slice()))));
    if (track.marks.empty()) return absl::OkStatus();
    XSpaceTables tables(store_);
    std::map<size_t, std::vector<const Mark*>> lanes;
    Lanes places;
    for (const Mark& mark : track.marks) {
      int64_t end_ns;
      if (__builtin_add_overflow(mark.ts_ns, mark.dur_ns, &end_ns)) end_ns = INT64_MAX;
      lanes[places.Place(mark.ts_ns, end_ns)].push_back(&mark);
    }
    BeginPlane("/device:CUSTOM:xlaprof");
    for (const auto& [lane, marks] : lanes) {
      const int64_t id = kAddedLineId + int64_t(lane);
      events_.BeginLine({.id = id, .name = track.name}, marks[0]->ts_ns);
      for (const Mark* mark : marks) {
        ProtoText stats;
        tables.PutString(kEventStat, tables.Added("finding"), JsonOf(mark->arguments), stats);
        events_.PutEvent(tables.Name(mark->name), mark->ts_ns, mark->dur_ns, stats.bytes());
      }
      events_.EndLine();
      AddedLine(id, tables);
    }
    EndPlane(tables);
    return absl::OkStatus();
  }

  // Adds the plane that gives the Unix time of 0, and the origin, which must be near the file's
  // beginning.
  absl::Status TaskEnvironment() {
    XP_TRY(const Origin origin, OriginOf(store_));
    XSpaceTables tables(store_);
    BeginPlane("Task Environment");
    ProtoText stats;
    tables.PutString(kPlaneStat, tables.Added("xlaprof_origin"), TextOf(origin), stats);
    const OptInt start_ns = times_.span.EpochOf(times_.origin_ns),
                 stop_ns = times_.span.EpochOf(times_.end_ns);
    if (start_ns && stop_ns && *start_ns > 0) {
      tables.PutUint(kPlaneStat, tables.Added("profile_start_time"), uint64_t(*start_ns), stats);
      tables.PutUint(kPlaneStat, tables.Added("profile_stop_time"),
                     uint64_t(std::max(*start_ns, *stop_ns)), stats);
    }
    file_.Write(stats);
    EndPlane(tables);
    return absl::OkStatus();
  }

  absl::Status Hosts() {
    return store_.Each(
        "SELECT host FROM process WHERE host IS NOT NULL GROUP BY host ORDER BY min(id)",
        [&](std::string_view host) {
          ProtoText text;
          text.Bytes(kHost, ProtoString(host));
          file_.Write(text);
        });
  }

  absl::Status LeftOut() {
    exported_.event_count = events_.event_count();
    exported_.LeaveOut(events_.too_far(), "event",
                       " more than 100 days from the first of their thread");
    XP_TRY(auto graphs, store_.One<int64_t>("SELECT count(*) FROM graph"));
    exported_.LeaveOut(graphs.value_or(0), "graph",
                       ": an XSpace holds a program's protobuf, not its nodes");
    XP_TRY(auto steps, store_.One<int64_t>("SELECT count(*) FROM step WHERE ts_ns IS NULL"));
    exported_.LeaveOut(steps.value_or(0), "step", " outside of what was profiled");
    exported_.LeaveOut(events_.unmarked_steps(), "step", " that no event marks");
    exported_.LeaveOut(events_.skipped_chunks(), "damaged chunk", " of events");
    exported_.LeaveOut(events_.skipped_arguments(), "damaged chunk", " of arguments");
    if (file_.size() > kMaxProtobufBytes)
      exported_.left_out.push_back(
          "nothing, but the file is larger than the 2 GiB that XProf reads. Export a part: "
          "--steps, "
          "--from, --to");
    return absl::OkStatus();
  }

  const Store& store_;
  const Findings& findings_;
  const ExportOptions& options_;
  const Times& times_;
  ProtoFile& file_;
  XSpaceEvents& events_;
  int64_t last_plane_id_ = 0;
  Exported exported_;
};

absl::StatusOr<Exported> WriteXSpace(const Run& run, const Findings& findings,
                                     const ExportOptions& options) {
  const Store& store = run.store();
  XP_TRY(Times times, TimesOf(store));
  XP_TRY(ProtoFile file, ProtoFile::Create(options.path));
  XP_TRY(XSpaceEvents events, XSpaceEvents::Make(store, times.origin_ns, times.end_ns, file));
  return XSpaceExport(store, findings, options, times, file, events).Run();
}

}  // namespace

namespace exporters {
extern const Exporter xspace{"xspace", "a profile for XProf and TensorBoard", "HOST.xplane.pb",
                             false, WriteXSpace};
}  // namespace exporters

}  // namespace xlaprof
