// What the sources do not show, and how to get it: a profile without steps, a window that is a part
// of the run, a capture that hit its limit, settings that slowed the run while it was recorded.
#include "analyzers/incomplete_capture.h"

#include <algorithm>
#include <array>

#include "analyzers/analyzer.h"
#include "analyzers/run/step_count.h"

namespace xlaprof {
namespace {

// Limits at which profilers stop taking events: torch_xla's and older XProf's, and newer XProf's.
constexpr auto kEventCaps = std::to_array<int64_t>({1'000'000, 5'000'000});

Finding Missing(ReasonType type, Severity severity = Severity::kInfo,
                IncompleteCaptureFigures figures = {}) {
  return {.severity = severity, .reason = Reason{.type = type}, .figures = std::move(figures)};
}

absl::Status Events(const Run& run, Findings& findings) {
  XP_TRY(auto events,
         run.store().One<int64_t>("SELECT CAST(total(count) AS INTEGER) FROM event_chunk"));
  XP_TRY(auto profiles, run.store().One<int64_t>(
                            "SELECT count(*) FROM source WHERE format = 'xspace' AND imported"));
  int64_t count = events.value_or(0);
  if (count == 0) {
    XP_TRY(auto cut,
           run.store().One<int64_t>(
               "SELECT count(*) FROM import_issue WHERE code IN ('cut_file', 'damaged_coding')"));
    if (profiles.value_or(0) > 0 && cut.value_or(0) > 0) {
      findings.push_back(Missing(ReasonType::kCutProfile, Severity::kWarning));
    } else if (profiles.value_or(0) > 0) {
      findings.push_back(Missing(ReasonType::kEmptyProfile, Severity::kWarning));
    }
    return absl::OkStatus();
  }
  if (std::find(kEventCaps.begin(), kEventCaps.end(), count) != kEventCaps.end())
    findings.push_back(Missing(ReasonType::kCapped, Severity::kWarning, {.event_limit = count}));
  if (run.slice().is_part_of_time()) return absl::OkStatus();  // few steps, or none, as asked
  XP_TRY(auto timed_steps,
         run.store().One<int64_t>("SELECT count(*) FROM step WHERE ts_ns IS NOT NULL"));
  if (timed_steps.value_or(0) == 0) {
    XP_TRY(auto chrome, run.store().One<int64_t>(
                            "SELECT count(*) FROM source WHERE format = 'chrome' AND imported"));
    findings.push_back(Missing(ReasonType::kNoStepMarkers, Severity::kInfo,
                               {.is_torch_profile = chrome.value_or(0) > 0}));
  } else if (timed_steps.value_or(0) == 1) {
    findings.push_back(Missing(ReasonType::kOneStep));
  }
  return absl::OkStatus();
}

absl::Status Window(const Run& run, Findings& findings) {
  XP_TRY(auto all, run.store().One<int64_t>("SELECT count(*) FROM execution"));
  XP_TRY(
      auto timed,
      run.store().One<int64_t>(
          "SELECT count(*) FROM execution WHERE ts_ns IS NOT NULL OR enqueue_ts_ns IS NOT NULL"));
  if (timed.value_or(0) > 0 && *timed < *all) {
    findings.push_back(Missing(ReasonType::kWindow, Severity::kInfo,
                               {.executions = *all, .timed_executions = *timed}));
    findings.back().count = *timed;
  }
  return absl::OkStatus();
}

struct Want {
  ReasonType type;
  const char* have;    // SQL: is there something to ask the question of?
  const char* answer;  // SQL: is it answered?
};

// Questions that a run with lazy graphs raises, and that these sources cannot answer.
constexpr Want kWants[] = {
    {ReasonType::kNoLines,
     "SELECT (SELECT count(*) FROM metrics_report) + (SELECT count(*) FROM profiler_line)",
     "SELECT count(*) FROM site"},
    {ReasonType::kNoCounters, "SELECT count(*) FROM metric", "SELECT count(*) FROM counter"},
    {ReasonType::kNoExecutions, "SELECT count(*) FROM metric",
     "SELECT (SELECT count(*) FROM metric WHERE name IN ('ExecuteTime', 'ExecuteReplicatedTime', "
     "'EagerOpExecuteTime')) + (SELECT count(*) FROM execution)"},
    {ReasonType::kNoGraphs, "SELECT count(*) > 1 FROM compile WHERE coalesce(cause, '') <> 'call'",
     "SELECT count(*) FROM graph WHERE printed_as <> 'signature'"},
    {ReasonType::kNoReasons,
     "SELECT count(*) > count(DISTINCT function) FROM compile WHERE cause = 'call'",
     "SELECT (SELECT count(*) FROM compile_reason) + (SELECT count(*) FROM graph WHERE printed_as "
     "<> 'signature')"},
    {ReasonType::kOnlyAlarms, "SELECT count(*) FROM compile_alarm",
     "SELECT (SELECT count(*) FROM compile) + (SELECT count(*) FROM execution) + (SELECT count(*) "
     "FROM metrics_report)"},
    {ReasonType::kNoCalls, "SELECT count(*) FROM compile WHERE cause = 'call'",
     "SELECT count(*) FROM execution"},
    {ReasonType::kNoClock, "SELECT count(*) FROM execution",
     "SELECT count(*) FROM execution WHERE ts_ns IS NOT NULL OR dur_ns IS NOT NULL"},
};

absl::Status Unanswered(const Run& run, Findings& findings) {
  for (const Want& want : kWants) {
    XP_TRY(auto asked, run.store().One<int64_t>(want.have));
    XP_TRY(auto answered, run.store().One<int64_t>(want.answer));
    if (asked.value_or(0) > 0 && answered.value_or(0) == 0) findings.push_back(Missing(want.type));
  }
  return absl::OkStatus();
}

// What the recording itself cost: such idle time and tracing is the settings' fault, not the
// program's.
absl::Status Settings(const Run& run, Findings& findings) {
  const bool is_torch_profile = run.store().Find("cpu_op") != 0;  // a category of that profiler
  return run.store().Each("SELECT name, value, evidence FROM setting GROUP BY name ORDER BY name",
                          [&](SettingName name, std::string value, std::string evidence) {
                            Finding finding =
                                Missing(ReasonType::kRecordingOverhead, Severity::kInfo,
                                        {.is_torch_profile = is_torch_profile,
                                         .setting = name,
                                         .setting_value = std::move(value),
                                         .setting_evidence = std::move(evidence)});
                            finding.reason->node = TextOf(name);
                            finding.evidence.push_back({.table = "setting"});
                            findings.push_back(std::move(finding));
                          });
}

}  // namespace

static absl::StatusOr<Findings> FindIncompleteCapture(const Run& run) {
  Findings findings;
  XP_TRY(Events(run, findings));
  XP_TRY(Window(run, findings));
  XP_TRY(Unanswered(run, findings));
  XP_TRY(Settings(run, findings));
  return findings;
}

extern const Analyzer incomplete_capture{
    .name = "incomplete_capture",
    .summary = "what the sources do not show, and how to get it",
    .meaning =
        "The files cannot answer a question that this run raises, or the capture itself "
        "slowed the run. The finding says what is missing and how to record it.",
    .looks_at = "what was read",
    .find = FindIncompleteCapture,
    .say = SayIncompleteCapture,
    .is_about_capture = true};
}  // namespace xlaprof
