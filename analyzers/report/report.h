// A report: what the store holds, what was concluded, and what could not be read, ready to be
// printed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/report/recording_cost.h"
#include "analyzers/report/summary.h"
#include "analyzers/run/steady_step.h"

namespace xlaprof {

// The files whose share of the capture is told one by one.
inline constexpr size_t kCoverageRows = 20;

struct ReportIssue {
  std::string path, code;
  Severity severity = Severity::kInfo;
  std::string advice;
  int64_t count = 0;
  std::optional<int64_t> offset, line;
};

struct Report {
  std::string run_label;                 // of the run that the store holds; "" if it has none
  std::optional<int64_t> base_epoch_ns;  // Unix ns of the store's time 0
  std::optional<int64_t> start_ns;       // where the capture's window begins, in the store's times
  int64_t capture_epoch_ns = 0;          // Unix ns of the capture, at the latest; 0: unknown
  Slice slice;                           // what of the run was looked at
  std::vector<SourceRow> sources;
  std::vector<RunRow> runs;
  std::vector<ProcessRow> processes;
  Summary summary;
  SteadyStep steady;
  Findings findings;
  std::vector<ReportIssue> issues;
  std::vector<SettingRow> settings;  // what slowed the run itself
  std::vector<RecordingCost> recordings;
};

// Runs the analyzers on `store` (its slice) and gathers the rest.
absl::StatusOr<Report> MakeReport(const Run& run);
// The same, of what Analyze found on this store.
absl::StatusOr<Report> MakeReport(const Run& run, Findings findings);

struct ReportOptions {
  bool colour = false;
  int width = 100;                                  // columns of the terminal
  std::vector<std::filesystem::path> source_roots;  // where source lines may be quoted from
  bool all = false;                                 // info findings in full, too
};

std::string ReportText(const Report& report, const ReportOptions& options);
std::string ReportMarkdown(const Report& report, const ReportOptions& options);
// One object, two-space indented, with a final newline. What is unknown is null; invalid UTF-8
// becomes U+FFFD.
std::string ReportJson(const Report& report);
// One finding, as it stands in ReportJson, on one line: what table finding holds.
std::string FindingJson(const Finding& finding);

// The capture's start in the store's times, from which --from and --to count; empty without a
// clock.
absl::StatusOr<std::optional<int64_t>> CaptureStart(const Store& store);

}  // namespace xlaprof
