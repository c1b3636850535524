// A report: a summary of the store, the findings, and the parts of the input that could not be
// read, ready to be printed.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/report/recordings.h"
#include "analyzers/report/summary.h"
#include "analyzers/run/scopes.h"
#include "analyzers/run/steady_step.h"
#include "analyzers/run/top_ops.h"

namespace xlaprof {

// The most files whose contents a report lists one by one.
inline constexpr size_t kCoverageRows = 20;

struct ReportIssue {
  std::string path, code;
  Severity severity = Severity::kInfo;
  std::string advice;
  int64_t count = 0;
  std::optional<int64_t> offset, line;
  bool is_packed = false;  // the offset is one of the decompressed content
};

struct Report {
  std::string origin;                    // mark of origin (profiler/store/origin.h)
  std::string run_label;                 // label of the store's run; "" if it has none
  std::optional<int64_t> base_epoch_ns;  // Unix ns of the store's time 0
  std::optional<int64_t> start_ns;       // start of the capture's window, in the store's time
  int64_t capture_epoch_ns = 0;          // latest possible time of the capture, Unix ns; 0: unknown
  Slice slice;                           // the analysed part of the run
  std::vector<SourceRow> sources;
  std::vector<RunRow> runs;
  std::vector<ProcessRow> processes;
  std::set<int64_t> silent_processes;  // that were recorded, and recorded nothing
  Summary summary;
  SteadyStep steady;
  ScopeTotals scopes;
  KilledScopes killed;
  TopOps top_ops;
  Findings findings;
  std::vector<ReportIssue> issues;
  std::vector<SettingRow> settings;  // settings that slowed the run itself
  std::vector<RecordingCost> recordings;
  std::optional<ObservedCommand> command;  // that xlaprof run ran
  std::vector<Observed> observed;          // processes that it recorded
};

// Lets the analyzers read the lines of source files below `roots` that did not change after the capture.
// To be called before they run.
absl::Status LetReadSources(std::vector<std::filesystem::path> roots, Run& run);

// Runs the analyzers on the chosen part of the run and collects the rest of the report.
absl::StatusOr<Report> MakeReport(const Run& run);
// Makes the report with findings that Analyze returned for this run.
absl::StatusOr<Report> MakeReport(const Run& run, Findings findings);

struct ReportOptions {
  bool colour = false;
  int width = 100;                                  // columns of the terminal
  std::vector<std::filesystem::path> source_roots;  // directories whose source lines may be quoted
  bool all = false;                                 // show info findings in full, too
  bool marks_origin = false;                        // end a text with the mark of origin
};

std::string ReportText(const Report& report, const ReportOptions& options);
std::string ReportMarkdown(const Report& report, const ReportOptions& options);
// Returns one JSON object, indented by two spaces, with a final newline. Unknown values are null,
// and invalid UTF-8 becomes U+FFFD.
std::string ReportJson(const Report& report);
// Returns one finding as in ReportJson, but on one line, as table finding stores it.
std::string FindingJson(const Finding& finding);

// Returns the capture's start in the store's time, from which --from and --to count, or nothing
// without a clock.
absl::StatusOr<std::optional<int64_t>> CaptureStart(const Store& store);

}  // namespace xlaprof
