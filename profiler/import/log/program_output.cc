#include "profiler/import/log/program_output.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "profiler/import/torch_xla/debug_blocks.h"
#include "profiler/import/log/debug_rows.h"
#include "profiler/import/log/metrics_rows.h"
#include "profiler/import/torch_xla/metrics_text.h"
#include "profiler/import/xla/xla_alarms.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

// A console's log is smaller than this. A larger file was written by XLA_METRICS_FILE, and its ends
// show what it holds.
constexpr size_t kSearchedBytes = 64 << 20;
constexpr size_t kEndBytes = 64 << 10;

template <class Has>
bool Search(std::string_view bytes, const Has& has) {
  if (bytes.size() <= kSearchedBytes) return has(bytes);
  return has(bytes.substr(0, kEndBytes)) || has(bytes.substr(bytes.size() - kEndBytes));
}

bool Holds(std::string_view bytes, std::initializer_list<std::string_view> marks) {
  return Search(bytes, [&](std::string_view window) {
    return std::ranges::any_of(
        marks, [&](std::string_view mark) { return window.find(mark) != std::string_view::npos; });
  });
}

// Returns whether a line has no text, or only a rule such as ===== at its end. torch_xla ends its
// log with a rule without a line end.
bool IsRule(std::string_view line) {
  while (!line.empty() && std::string_view(" \t\r=-").find(line.back()) != std::string_view::npos)
    line.remove_suffix(1);
  return line.empty() || line.ends_with("pt-xla-profiler:");
}

// Reads XLA's alarms in the text, and reports the parts of the text that could not be read.
absl::Status Tell(const Input& input, const MetricsReader& reader, ImportContext& context) {
  const std::string_view bytes = input.bytes;
  if (Search(bytes, HoldsXlaAlarms))
    XP_TRY(ReadXlaAlarms(input, context, [&](const LogOrigin&) {
             return context.ProcessId();
           }).status());
  size_t line = bytes.rfind('\n') + 1;
  XP_TRY(auto cut, context.store.One<int64_t>(
                       "SELECT 1 FROM import_issue WHERE source_id = ?1 AND code = 'cut_file'",
                       context.source_id));
  if (!cut && !IsRule(bytes.substr(line))) {
    XP_TRY(context.Issue(
        "no_line_end", Severity::kInfo,
        "The text ends inside a line. If it was cut there, the last value may lack digits, and the rest is missing.",
        int64_t(line)));
  }
  if (auto head = reader.cut_head()) {
    // A source has only one issue per code.
    XP_TRY(context.Issue(
        cut ? issue_codes::kHeadlessReport : issue_codes::kCutFile, Severity::kWarning,
        "The text begins inside an entry of a report. That entry and everything before it are missing.",
        head->offset, head->line));
  }
  if (reader.broken_entries() == 0) return absl::OkStatus();
  return context.Issue(
      "broken_entry", Severity::kWarning,
      "An entry of a report lacks its value, a number in it is unreadable, or a line break splits it. The entry was left out.",
      reader.first_broken_offset(), reader.first_broken_line(), reader.broken_entries());
}

// Writes what `one` has taken, and `reports`, in the order of the text. If prefixes show several
// processes, each has its own reports.
absl::Status WriteReports(std::vector<MetricsText> reports, bool finds_restarts, MetricsWriter& one,
                          ImportContext& context) {
  std::set<LogOrigin> told;
  for (const MetricsText& report : reports) told.insert(report.origin);
  told.erase(LogOrigin());
  std::map<LogOrigin, std::vector<MetricsText>> of_others;
  for (MetricsText& report : reports) {
    if (told.size() > 1 && report.origin != LogOrigin()) {
      of_others[report.origin].push_back(std::move(report));
    } else {
      XP_TRY(one.Take(std::move(report)));
    }
  }
  XP_TRY(one.EndRun());
  const ImportContext::Position position = context.position();
  for (auto& [origin, own] : of_others) {
    context.Continue(position);
    MetricsWriter writer(context, finds_restarts, origin);
    for (MetricsText& report : own) XP_TRY(writer.Take(std::move(report)));
    XP_TRY(writer.EndRun());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<RuntimeTextCounts> ReadRuntimeText(const Input& input, ImportContext& context) {
  RuntimeTextCounts counts;
  DebugLog log;
  if (Holds(input.bytes, {"Analysis:", "pt-xla-profiler", "Unlowered Op usage",
                          "FRAME (count=", "IR graph hash "})) {
    log = ParseDebugLog(input.bytes, context.progress);
    counts.debug_facts = int64_t(log.facts.size());
    counts.lines = log.lines;
  }
  bool has_metrics = Holds(input.bytes, {"[MetricsData", "TotalSamples: ", "Value: "});
  MetricsReader reader(has_metrics || counts.lines == 0 ? input.bytes : std::string_view());
  MetricsText report;
  DebugWriter debug(log, context);
  XP_TRY(debug.WriteIssues());
  if (log.facts.empty()) {
    MetricsWriter metrics(context, true);
    // A file of saves is long and has no prefixes, so its reports are written as they are read.
    std::vector<MetricsText> later;
    while (reader.Next(&report)) {
      context.progress(size_t(reader.offset()));
      counts.metric_entries += int64_t(report.entries.size());
      if (later.empty() && report.origin == LogOrigin()) {
        XP_TRY(metrics.Take(std::move(report)));
      } else {
        later.push_back(std::move(report));
      }
    }
    counts.lines = std::max(counts.lines, reader.lines());
    XP_TRY(WriteReports(std::move(later), true, metrics, context));
    XP_TRY(Tell(input, reader, context));
    return counts;
  }
  // The debug output separates the runs. A report belongs to the run whose output comes before it.
  std::vector<int> segments = SegmentsOf(log);
  int last = *std::max_element(segments.begin(), segments.end());
  std::vector<std::vector<MetricsText>> reports(size_t(last) + 1);
  size_t above = 0;
  for (int segment = 0; reader.Next(&report);) {
    for (; above < log.facts.size() && log.facts[above].line < report.line; ++above)
      segment = std::max(segment, segments[above]);
    counts.metric_entries += int64_t(report.entries.size());
    reports[size_t(segment)].push_back(std::move(report));
  }
  for (int segment = 0; segment <= last; ++segment) {
    if (segment > 0) context.Restart();
    XP_TRY(debug.WriteRun(segments, segment));
    MetricsWriter metrics(context, false);
    XP_TRY(WriteReports(std::move(reports[size_t(segment)]), false, metrics, context));
  }
  XP_TRY(Tell(input, reader, context));
  return counts;
}

}  // namespace xlaprof
