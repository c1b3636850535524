// What the sources do not show, and how to get it: a profile without steps, a window that is a part
// of the run, a capture that hit its limit, settings that slowed the run while it was recorded.
#include <algorithm>
#include <array>

#include "analyzers/analyzer.h"
#include "analyzers/evidence/step_count.h"

namespace xlaprof {
namespace {

// Limits at which profilers stop taking events: torch_xla's and older XProf's, and newer XProf's.
constexpr auto kEventCaps = std::to_array<int64_t>({1'000'000, 5'000'000});

Finding Missing(ReasonType type, std::string title, std::string text, std::string advice) {
  Finding finding{.severity = Severity::kInfo, .title = std::move(title)};
  finding.cost_note = "does not apply";
  finding.reason = Reason{.type = type, .text = std::move(text)};
  finding.advice = std::move(advice);
  return finding;
}

absl::Status Events(const Store& store, Findings& findings) {
  XP_TRY(auto events, store.One<int64_t>("SELECT CAST(total(count) AS INTEGER) FROM event_chunk"));
  XP_TRY(auto profiles,
         store.One<int64_t>("SELECT count(*) FROM source WHERE format = 'xspace' AND imported"));
  int64_t count = events.value_or(0);
  if (count == 0) {
    XP_TRY(
        auto cut,
        store.One<int64_t>(
            "SELECT count(*) FROM import_issue WHERE code IN ('cut_file', 'damaged_coding')"));
    if (profiles.value_or(0) > 0 && cut.value_or(0) > 0) {
      findings.push_back(Missing(ReasonType::kCutProfile,
                                 "the profile is cut before its first event",
                                 "the file on disk is not whole; its events came after the cut",
                                 "Copy the file again, or wait until it is written."));
      findings.back().severity = Severity::kWarning;
    } else if (profiles.value_or(0) > 0) {
      findings.push_back(
          Missing(ReasonType::kEmptyProfile, "the profile holds no events",
                  "it was taken while nothing ran, or the profiler server object was gone",
                  "Keep the object that xp.start_server returns, take the trace while steps run, "
                  "and make it longer than a step."));
      findings.back().severity = Severity::kWarning;
    }
    return absl::OkStatus();
  }
  if (std::find(kEventCaps.begin(), kEventCaps.end(), count) != kEventCaps.end()) {
    findings.push_back(Missing(
        ReasonType::kCapped, fmt::format("the profile stopped at its limit of {} events", count),
        "what came after is not in the file",
        "Take a shorter trace, or one with host_tracer_level=1 and no Python tracer."));
    findings.back().severity = Severity::kWarning;
  }
  if (store.slice().is_part_of_time()) return absl::OkStatus();  // few steps, or none, as asked
  XP_TRY(auto timed_steps, store.One<int64_t>("SELECT count(*) FROM step WHERE ts_ns IS NOT NULL"));
  if (timed_steps.value_or(0) == 0) {
    XP_TRY(auto chrome,
           store.One<int64_t>("SELECT count(*) FROM source WHERE format = 'chrome' AND imported"));
    findings.push_back(Missing(
        ReasonType::kNoStepMarkers, "the profile has no step markers",
        "without them the time of a step, and whether it changes, cannot be told",
        fmt::format("{}torch_xla.debug.profiler.StepTrace('train', step_num=i), or "
                    "jax.profiler.StepTraceAnnotation; where steps are "
                    "marked already, trace for longer than one step.",
                    chrome.value_or(0) > 0 ? "Mark each step: prof.step() of torch.profiler, "
                                           : "Mark each step: ")));
  } else if (timed_steps.value_or(0) == 1) {
    findings.push_back(Missing(ReasonType::kOneStep, "the profile covers a single step",
                               "one step cannot be told from warm-up",
                               "Trace for at least ten steps."));
  }
  return absl::OkStatus();
}

absl::Status Window(const Store& store, Findings& findings) {
  XP_TRY(auto all, store.One<int64_t>("SELECT count(*) FROM execution"));
  XP_TRY(
      auto timed,
      store.One<int64_t>(
          "SELECT count(*) FROM execution WHERE ts_ns IS NOT NULL OR enqueue_ts_ns IS NOT NULL"));
  if (timed.value_or(0) > 0 && *timed < *all) {
    findings.push_back(Missing(
        ReasonType::kWindow, fmt::format("the profile saw {} of {} executions", *timed, *all),
        "counts come from the sources that saw the whole run, times only from inside the "
        "profile's window",
        "To time the rest, start the trace later or make it longer (duration_ms)."));
    findings.back().count = *timed;
  }
  return absl::OkStatus();
}

struct Want {
  ReasonType type;
  const char* have;    // SQL: is there something to ask the question of?
  const char* answer;  // SQL: is it answered?
  const char* title;
  const char* text;
  const char* advice;
};

// Questions that a run with lazy graphs raises, and that these sources cannot answer.
constexpr Want kWants[] = {
    {ReasonType::kNoLines,
     "SELECT (SELECT count(*) FROM metrics_report) + (SELECT count(*) FROM profiler_line)",
     "SELECT count(*) FROM site", "no source names lines of code",
     "metrics reports and pt-xla-profiler lines count, but carry no call sites",
     "Run with PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=log.txt and report on both files."},
    {ReasonType::kNoCounters, "SELECT count(*) FROM metric", "SELECT count(*) FROM counter",
     "the metrics reports have no counters: they seem to be cut",
     "ops on the CPU, reads of numbers and step marks are counted there",
     "Report on all that torch_xla.debug.metrics.metrics_report() returns."},
    {ReasonType::kNoExecutions, "SELECT count(*) FROM metric",
     "SELECT (SELECT count(*) FROM metric WHERE name IN ('ExecuteTime', 'ExecuteReplicatedTime', "
     "'EagerOpExecuteTime')) + (SELECT count(*) FROM execution)",
     "the metrics reports have no executions: they are cut, or nothing ran yet",
     "what compiling and transfers cost is judged by them",
     "Report on all that torch_xla.debug.metrics.metrics_report() returns, after some steps."},
    {ReasonType::kNoGraphs, "SELECT count(*) > 1 FROM compile WHERE coalesce(cause, '') <> 'call'",
     "SELECT count(*) FROM graph WHERE printed_as <> 'signature'", "no source holds the graphs",
     "why a graph was compiled again shows only in the graphs themselves",
     "Run with XLA_SAVE_TENSORS_FILE=graphs.txt XLA_IR_DEBUG=1 for a few steps, or take a profile "
     "of the steps that recompile."},
    {ReasonType::kNoReasons,
     "SELECT count(*) > count(DISTINCT function) FROM compile WHERE cause = 'call'",
     "SELECT (SELECT count(*) FROM compile_reason) + (SELECT count(*) FROM graph WHERE printed_as "
     "<> 'signature')",
     "no source says why functions were compiled again",
     "the log shows the types of the inputs, not static arguments, settings and functions that are "
     "defined anew",
     "Run with JAX_EXPLAIN_CACHE_MISSES=1 beside JAX_LOG_COMPILES=1."},
    {ReasonType::kOnlyAlarms, "SELECT count(*) FROM compile_alarm",
     "SELECT (SELECT count(*) FROM compile) + (SELECT count(*) FROM execution) + (SELECT count(*) "
     "FROM metrics_report)",
     "the log tells only of compilations that XLA complained of",
     "its alarms ring for what takes over a second, or two minutes",
     "To see all, and why: JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1, or PT_XLA_DEBUG_LEVEL=2 "
     "for torch_xla."},
    {ReasonType::kNoCalls, "SELECT count(*) FROM compile WHERE cause = 'call'",
     "SELECT count(*) FROM execution", "no source has executions",
     "what was compiled is known, not how often it ran nor what a step costs",
     "Take a profile as well: jax.profiler.trace(DIR)."},
    {ReasonType::kNoClock, "SELECT count(*) FROM execution",
     "SELECT count(*) FROM execution WHERE ts_ns IS NOT NULL OR dur_ns IS NOT NULL",
     "no source has times of executions",
     "a log and a dump tell what happened and in which order, not how long it took",
     "Take a profile as well: torch_xla.debug.profiler.trace('localhost:9012', DIR), or "
     "XLA_METRICS_FILE for sums."},
};

absl::Status Unanswered(const Store& store, Findings& findings) {
  for (const Want& want : kWants) {
    XP_TRY(auto asked, store.One<int64_t>(want.have));
    XP_TRY(auto answered, store.One<int64_t>(want.answer));
    if (asked.value_or(0) > 0 && answered.value_or(0) == 0)
      findings.push_back(Missing(want.type, want.title, want.text, want.advice));
  }
  return absl::OkStatus();
}

// What the recording itself cost: such idle time and tracing is the settings' fault, not the
// program's.
absl::Status Settings(const Store& store, Findings& findings) {
  const bool by_pytorch = store.Find("cpu_op") != 0;  // a category of its profiler's
  return store.Each(
      "SELECT name, value, evidence FROM setting GROUP BY name ORDER BY name",
      [&](SettingName name, std::string value, std::string evidence) {
        std::string title, advice;
        if (name == SettingName::kIrDebug || name == SettingName::kHloDebug) {
          title = "the run was slowed by IR debugging";
          advice =
              "It takes a Python stack at every op: for times that count, record again without "
              "XLA_IR_DEBUG and XLA_HLO_DEBUG.";
        } else if (name == SettingName::kPythonTracer) {
          title = "the run was slowed by the Python tracer";
          advice =
              fmt::format("It records every Python call: for times that count, record with {}.",
                          by_pytorch ? "with_stack=False" : "python_tracer_level=0");
        } else if (name == SettingName::kSaveTensors) {
          title = "the run was slowed by graph dumps";
          advice =
              "Each sync writes its whole graph, cached or not: for times that count, record "
              "without XLA_SAVE_TENSORS_FILE.";
        } else {
          title = fmt::format("the run was recorded with {} = {}", name, value);
          advice = "For times that count, record without it.";
        }
        Finding finding =
            Missing(ReasonType::kRecordingOverhead, std::move(title), evidence, std::move(advice));
        finding.reason->node = TextOf(name);
        finding.evidence.push_back(
            {.table = "setting", .text = fmt::format("{} = {}: {}", name, value, evidence)});
        findings.push_back(std::move(finding));
      });
}

}  // namespace

static absl::StatusOr<Findings> Run(const Store& store) {
  Findings findings;
  XP_TRY(Events(store, findings));
  XP_TRY(Window(store, findings));
  XP_TRY(Unanswered(store, findings));
  XP_TRY(Settings(store, findings));
  return findings;
}

extern const Analyzer incomplete_capture{
    .name = "incomplete_capture",
    .summary = "what the sources do not show, and how to get it",
    .looks_at = "what was read",
    .run = Run,
    .is_about_capture = true};
}  // namespace xlaprof
