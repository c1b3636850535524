#include "analyzers/report/report.h"

#include <chrono>

namespace xlaprof {
namespace {

// When the files that were read were last written, if no source knows the epoch: a log ends when
// its run did.
int64_t NewestWrite(const std::vector<SourceRow>& sources) {
  int64_t newest_ns = 0;
  for (const SourceRow& source : sources) {
    std::error_code error;
    auto time = std::filesystem::last_write_time(source.path, error);
    if (!source.imported || error) continue;
    auto since_epoch = std::filesystem::file_time_type::clock::to_sys(time).time_since_epoch();
    newest_ns = std::max<int64_t>(
        newest_ns, std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count());
  }
  return newest_ns;
}

absl::Status ReadTables(const Store& store, Report& report) {
  XP_TRY(report.sources,
         store.Collect("SELECT id, path, format, bytes, clock_offset_ns, clock_error_ns, "
                       "derived_from, imported, note FROM source ORDER BY id",
                       [](int64_t id, std::string path, OptText format, OptInt bytes, OptInt offset,
                          OptInt error, OptText derived_from, bool imported, OptText note) {
                         return SourceRow{id,    path,         format,   bytes, offset,
                                          error, derived_from, imported, note};
                       }));
  XP_TRY(report.runs,
         store.Collect(
             "SELECT id, label, started_epoch_ns, selected, why FROM run ORDER BY id",
             [](int64_t id, std::string label, OptInt started, bool selected, std::string why) {
               return RunRow{id, label, started, selected, why};
             }));
  XP_TRY(
      report.processes,
      store.Collect(
          "SELECT id, run_id, source_id, segment, host, pid, rank, name FROM process ORDER BY id",
          [](int64_t id, OptInt run, OptInt source, int64_t segment, OptText host, OptInt pid,
             OptInt rank, OptText name) {
            return ProcessRow{id, run, source, segment, host, pid, rank, name};
          }));
  XP_TRY(report.issues,
         store.Collect(
             "SELECT coalesce(s.path, ''), i.code, i.severity, i.count, i.first_offset, "
             "i.first_line, i.advice "
             "FROM import_issue i LEFT JOIN source s ON s.id = i.source_id "
             "ORDER BY i.severity = 'error' DESC, i.severity = 'warning' DESC, i.source_id, i.code",
             [](std::string path, std::string code, std::string severity, int64_t count,
                OptInt offset, OptInt line, std::string advice) {
               return ReportIssue{path, code, severity, advice, count, offset, line};
             }));
  XP_TRY(report.settings, store.Collect("SELECT min(process_id), name, value, evidence FROM "
                                        "setting GROUP BY name, value ORDER BY name, value",
                                        [](OptInt process, std::string name, std::string value,
                                           std::string evidence) {
                                          return SettingRow{process, name, value, evidence};
                                        }));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> CaptureStart(const Store& store) {
  XP_TRY(OptInt start_ns, store.MetaNs("window_start_ns"));
  if (start_ns) return start_ns;
  return store.One<int64_t>(
      "SELECT min(c.min_ts_ns) FROM event_chunk c JOIN track t ON t.id = c.track_id WHERE t.kind "
      "<> 'counter'");
}

absl::StatusOr<Report> MakeReport(const Store& store) {
  XP_TRY(Findings findings, Analyze(store));
  return MakeReport(store, std::move(findings));
}

absl::StatusOr<Report> MakeReport(const Store& store, Findings findings) {
  Report report;
  XP_TRY(ReadTables(store, report));
  XP_TRY(auto label, store.Meta("run_label"));
  report.run_label = label.value_or("");
  XP_TRY(report.base_epoch_ns, store.MetaNs("base_epoch_ns"));
  XP_TRY(report.start_ns, CaptureStart(store));
  report.capture_epoch_ns = report.base_epoch_ns
                                ? *report.base_epoch_ns + report.start_ns.value_or(0)
                                : NewestWrite(report.sources);
  report.slice = store.slice();
  XP_TRY(report.summary, Summarize(store));
  XP_TRY(report.steady, FindSteadyStep(store));
  XP_TRY(report.recordings, RecordingCosts(store));
  report.findings = std::move(findings);
  return report;
}

}  // namespace xlaprof
