// A report: what the store holds, what was concluded, and what could not be read, ready to be printed.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/summary.h"

namespace xlaprof {

struct ReportIssue {
  std::string path, code, severity, advice;
  int64_t count = 0;
  std::optional<int64_t> offset, line;
};

struct Report {
  std::vector<SourceRow> sources;
  std::vector<RunRow> runs;
  Summary summary;
  Findings findings;
  std::vector<ReportIssue> issues;
  std::vector<SettingRow> settings;  // what slowed the run itself
};

// Runs the analyzers on `store` (its slice) and gathers the rest.
absl::StatusOr<Report> MakeReport(const Store& store);

struct ReportOptions {
  bool colour = false;
  int width = 100;                                  // columns of the terminal
  std::vector<std::filesystem::path> source_roots;  // where source lines may be quoted from
  bool all = false;                                 // info findings in full, too
};

std::string ReportText(const Report& report, const ReportOptions& options);
std::string ReportMarkdown(const Report& report, const ReportOptions& options);
// The object that DESIGN section 5 names, two-space indented, with a final newline.
std::string ReportJson(const Report& report);

}  // namespace xlaprof
