#include "analyzers/report/report.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <tuple>
#include <utility>

#include "analyzers/report/source_quote.h"
#include "analyzers/run/source_lines.h"
#include "profiler/store/origin.h"

namespace xlaprof {
namespace {

// Returns the time of the last write to the imported files. It is used if no source knows the
// epoch, because a log ends when its run does.
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

absl::Status ReadTables(const Run& run, Report& report) {
  XP_TRY(report.sources, run.store().Rows<SourceRow>("ORDER BY id"));
  XP_TRY(report.runs, run.store().Rows<RunRow>("ORDER BY id"));
  XP_TRY(report.processes, run.store().Rows<ProcessRow>("ORDER BY id"));
  XP_TRY(const SilentProcesses* silent, run.Get<SilentProcesses>());
  report.silent_processes = silent->ids;
  std::map<OptInt, const SourceRow*> source_of;
  for (const SourceRow& source : report.sources) source_of[source.id] = &source;
  XP_TRY(std::vector<ImportIssueRow> issues,
         run.store().Rows<ImportIssueRow>(
             "ORDER BY severity = 'error' DESC, severity = 'warning' DESC, "
             "source_id, code"));
  for (ImportIssueRow& issue : issues) {
    const SourceRow* source = source_of[issue.source_id];
    report.issues.push_back({.path = source != nullptr ? source->path : "",
                             .code = std::move(issue.code),
                             .severity = issue.severity,
                             .advice = std::move(issue.advice),
                             .count = issue.count,
                             .offset = issue.first_offset,
                             .line = issue.first_line,
                             .is_packed = source != nullptr && source->unpacked_bytes});
  }
  XP_TRY(report.settings,
         run.store().Rows<SettingRow>("ORDER BY name, value, process_id IS NULL, process_id"));
  const auto same = std::ranges::unique(report.settings, {}, [](const SettingRow& setting) {
    return std::tie(setting.name, setting.value);
  });
  report.settings.erase(same.begin(), same.end());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::optional<int64_t>> CaptureStart(const Store& store) {
  XP_TRY(OptInt start_ns, store.MetaNs("window_start_ns"));
  if (start_ns) return start_ns;
  return store.One<int64_t>(
      "SELECT coalesce(min(c.min_ts_ns) FILTER (WHERE t.kind <> 'samples'), min(c.min_ts_ns)) FROM "
      "event_chunk c JOIN track t ON t.id = c.track_id WHERE t.kind <> 'counter'");
}

// Returns the latest possible time of the capture, or 0.
static absl::StatusOr<int64_t> CaptureEpoch(const Store& store,
                                            const std::vector<SourceRow>& sources) {
  XP_TRY(const OptInt base_ns, store.MetaNs("base_epoch_ns"));
  XP_TRY(const OptInt start_ns, CaptureStart(store));
  return base_ns ? *base_ns + start_ns.value_or(0) : NewestWrite(sources);
}

absl::Status LetReadSources(std::vector<std::filesystem::path> roots, Run& run) {
  XP_TRY(const std::vector<SourceRow> sources, run.store().AllRows<SourceRow>());
  XP_TRY(const int64_t epoch_ns, CaptureEpoch(run.store(), sources));
  run.Set(SourceLines{[roots = std::move(roots), epoch_ns](const SourcePlace& place) {
    const std::optional<Quote> quote =
        QuoteSource(place.file, place.line.value_or(0), roots, epoch_ns);
    return quote && !quote->newer_than_capture ? std::optional(quote->text) : std::nullopt;
  }});
  return absl::OkStatus();
}

absl::StatusOr<Report> MakeReport(const Run& run) {
  XP_TRY(Findings findings, Analyze(run));
  return MakeReport(run, std::move(findings));
}

absl::StatusOr<Report> MakeReport(const Run& run, Findings findings) {
  Report report;
  XP_TRY(ReadTables(run, report));
  XP_TRY(const Origin origin, OriginOf(run.store()));
  report.origin = TextOf(origin);
  XP_TRY(auto label, run.store().Meta("run_label"));
  report.run_label = label.value_or("");
  XP_TRY(report.base_epoch_ns, run.store().MetaNs("base_epoch_ns"));
  XP_TRY(report.start_ns, CaptureStart(run.store()));
  XP_TRY(report.capture_epoch_ns, CaptureEpoch(run.store(), report.sources));
  report.slice = run.slice();
  XP_TRY(report.summary, Summarize(run));
  XP_TRY(const SteadyStep* steady, run.Get<SteadyStep>());
  report.steady = *steady;
  XP_TRY(const ScopeTotals* scopes, run.Get<ScopeTotals>());
  report.scopes = *scopes;
  XP_TRY(const KilledScopes* killed, run.Get<KilledScopes>());
  report.killed = *killed;
  XP_TRY(const TopOps* top_ops, run.Get<TopOps>());
  report.top_ops = *top_ops;
  XP_TRY(report.recordings, RecordingCosts(run));
  XP_TRY(report.command, ObservedCommandOf(run));
  XP_TRY(report.observed, ObservedProcessesOf(run));
  report.findings = std::move(findings);
  return report;
}

}  // namespace xlaprof
