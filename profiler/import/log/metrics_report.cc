// Reads metrics reports: one that metrics_report() returned, several pasted together, or a
// XLA_METRICS_FILE. torch_xla appends a report per save to that file, run after run.
// metrics_text.cc describes what reports look like.
#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "profiler/import/log/dialect.h"
#include "profiler/import/log/metrics_rows.h"
#include "profiler/import/torch_xla/metrics_text.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

constexpr std::string_view kMetricsMarks[] = {"[MetricsData", "TotalSamples: ", "Value: "};

// Returns whether a text holds "[MetricsData; step=7]"; texts about reports write N for the number.
bool HoldsSave(std::string_view window) {
  constexpr std::string_view kSave = "[MetricsData; step=";
  for (size_t at = window.find(kSave); at < window.size(); at = window.find(kSave, at + 1)) {
    const std::string_view number = window.substr(at + kSave.size(), 1);
    if (!number.empty() && number[0] >= '0' && number[0] <= '9') return true;
  }
  return false;
}

int SniffMetricsReport(std::string_view window) {
  auto has = [&](std::string_view text) { return window.find(text) != std::string_view::npos; };
  if (HoldsSave(window)) return 95;
  bool fields = has("TotalSamples: ") && (has("Accumulator: ") || has("Counter: "));
  if (has("Metric: ") && fields) return has("\n  TotalSamples: ") ? 92 : 80;
  // The window may hold counters only, or the end of a long report.
  size_t counter = window.find("Counter: ");
  if (counter != std::string_view::npos &&
      window.substr(counter, 300).find("Value: ") != std::string_view::npos)
    return 70;
  return has("Metric: ") && has("Percentiles: ") ? 60 : 0;
}

// A file of saves may have hundreds of megabytes, so its reports are written as they are read.
class MetricsReportReader : public DialectReader {
 public:
  explicit MetricsReportReader(LogReading& reading)
      : reading_(reading), reports_(reading.input.bytes) {}

  bool TakesLines() const override { return false; }

  // Reads up to the first report that holds something.
  void End() override {
    MetricsText report;
    while (!found_ && reports_.Next(&report)) {
      found_ = !report.entries.empty();
      next_.push_back(std::move(report));
    }
  }
  bool Found() const override { return found_; }

  absl::Status Refuse() const override {
    return Invalid(
        "{}: none of its {} lines shows a metric. xlaprof looked for 'Metric: NAME' with 'TotalSamples:' and 'Accumulator:', and for 'Counter: NAME' with 'Value:'. Print torch_xla.debug.metrics.metrics_report(), or name the format with --as",
        reading_.input.path, std::max(reading_.texts.number(), reports_.lines()));
  }

  // Unless another dialect shows where runs begin, the reports do.
  absl::Status FindRuns() override {
    if (reading_.runs.are_known()) return absl::OkStatus();
    finds_runs_ = true;
    return WriteReports(0, &reading_.runs);
  }

  absl::Status WriteRun(int run) override {
    return finds_runs_ ? absl::OkStatus() : WriteReports(run, nullptr);
  }

  absl::Status Finish() override {
    if (auto head = reports_.cut_head()) {
      // A source has only one issue per code.
      XP_TRY(auto cut, reading_.context.store.One<int64_t>(
                           "SELECT 1 FROM import_issue WHERE source_id = ?1 AND code = ?2",
                           reading_.context.source_id, issue_codes::kCutFile));
      XP_TRY(reading_.context.Issue(
          cut ? issue_codes::kHeadlessReport : issue_codes::kCutFile, Severity::kWarning,
          "The text begins inside an entry of a report. That entry and everything before it are missing.",
          head->offset, head->line));
    }
    if (reports_.broken_entries() == 0) return absl::OkStatus();
    return reading_.context.Issue(
        "broken_entry", Severity::kWarning,
        "An entry of a report lacks its value, a number in it is unreadable, or a line break splits it. The entry was left out.",
        reports_.first_broken_offset(), reports_.first_broken_line(), reports_.broken_entries());
  }

 private:
  // Moves to the next report. Returns false if there is none, or if it is of a later run than `run`
  // and runs are known.
  bool Next(int run, bool of_any_run, MetricsText* report) {
    if (next_.empty()) {
      if (!reports_.Next(report)) return false;
      next_.push_back(std::move(*report));
      reading_.context.progress(size_t(reports_.offset()));
    }
    if (!of_any_run && reading_.runs.At(next_.front().line) > run) return false;
    *report = std::move(next_.front());
    next_.pop_front();
    return true;
  }

  // Writes the reports of `run`, or, if `runs` is given, all reports. If prefixes show several
  // processes, each has its own reports.
  absl::Status WriteReports(int run, LogRuns* runs) {
    MetricsWriter one(reading_, run, runs);
    // Holds the reports from the first one on whose writer is known.
    std::vector<MetricsText> later;
    for (MetricsText report; Next(run, runs != nullptr, &report);) {
      if (later.empty() && report.origin == LogOrigin()) {
        XP_TRY(one.Take(std::move(report)));
      } else {
        later.push_back(std::move(report));
      }
    }
    std::set<LogOrigin> writers;
    for (const MetricsText& report : later) writers.insert(report.origin);
    writers.erase(LogOrigin());
    std::map<LogOrigin, std::vector<MetricsText>> of_others;
    for (MetricsText& report : later) {
      if (writers.size() > 1 && report.origin != LogOrigin()) {
        of_others[report.origin].push_back(std::move(report));
      } else {
        XP_TRY(one.Take(std::move(report)));
      }
    }
    XP_TRY(one.EndRun());
    for (auto& [origin, own] : of_others) {
      LogRuns of_writer = reading_.runs;  // each process starts again on its own
      MetricsWriter writer(reading_, one.run(), runs == nullptr ? nullptr : &of_writer, origin);
      for (MetricsText& report : own) XP_TRY(writer.Take(std::move(report)));
      XP_TRY(writer.EndRun());
    }
    return absl::OkStatus();
  }

  LogReading& reading_;
  MetricsReader reports_;
  std::deque<MetricsText> next_;  // reports that were read and not written
  bool found_ = false, finds_runs_ = false;
};

}  // namespace

extern const Dialect metrics_report{.name = "metrics_report",
                                    .summary = "torch_xla: metrics_report() text, XLA_METRICS_FILE",
                                    .example = "metrics.txt",
                                    .sniff = SniffMetricsReport,
                                    .marks = kMetricsMarks,
                                    .read = MakeReader<MetricsReportReader>,
                                    .framework = Framework::kPytorchXla,
                                    .fills_files = true,
                                    .ends_with_numbers = true};

}  // namespace xlaprof
