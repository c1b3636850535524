// Finds facts that the sources do not show, and ways to get them: a profile without steps, a window
// that covers a part of the run, a capture that reached its limit, and settings that slowed the
// recorded run.
#include "analyzers/incomplete_capture.h"

#include <algorithm>
#include <set>

#include "analyzers/analyzer.h"
#include "analyzers/run/contents.h"
#include "analyzers/run/host_ops.h"
#include "analyzers/run/partial_compiles.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "profiler/store/issue_codes.h"

namespace xlaprof {
namespace {

enum class Asks : uint8_t { kNothing, kChange };

Finding MakeFinding(ReasonType type, Asks asks, IncompleteCaptureFigures figures = {}) {
  return {.needs_fixing = asks == Asks::kChange,
          .reason = Reason{.type = type},
          .figures = std::move(figures)};
}

// Finds profiles that are empty, cut, full, or without enough steps.
absl::Status JudgeEvents(const Run& run, Findings& findings) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  if (contents->events == 0) {
    if (!contents->source_kinds.contains(SourceKind::kTimed) || contents->recordings > 0)
      return absl::OkStatus();
    const bool is_cut = contents->issue_codes.contains(issue_codes::kCutFile) ||
                        contents->issue_codes.contains(issue_codes::kDamagedCoding);
    findings.push_back(
        MakeFinding(is_cut ? ReasonType::kCutProfile : ReasonType::kEmptyProfile, Asks::kChange));
    return absl::OkStatus();
  }
  const bool is_full = contents->events == policy::kEventsOfOldProfilers ||
                       contents->events == policy::kEventsOfNewProfilers;
  if (is_full)
    findings.push_back(
        MakeFinding(ReasonType::kCapped, Asks::kChange, {.event_limit = contents->events}));
  if (run.slice().is_part_of_time()) return absl::OkStatus();  // few steps, or none, were asked for
  XP_TRY(const Steps* steps, run.Get<Steps>());
  const int64_t steps_with_start = std::ranges::count_if(
      steps->all, [](const StepSpan& step) { return step.ts_ns.has_value(); });
  XP_TRY(const ObservedProcesses* observed, run.Get<ObservedProcesses>());
  // `xlaprof run` counts the steps of a script that need not mark them in the profile.
  if (steps_with_start == 0 && observed->rows.empty()) {
    XP_TRY(const Executions* executions, run.Get<Executions>());
    const bool are_traced = std::ranges::any_of(executions->rows, [](const ExecutionRow& row) {
      return row.cause == CutKind::kStepTraceExit;
    });
    findings.push_back(MakeFinding(ReasonType::kNoStepMarkers, Asks::kNothing,
                                   {.steps_are_known = !steps->all.empty(),
                                    .steps_are_traced = are_traced,
                                    .is_torch_profile = contents->has_torch_ops}));
  } else if (steps_with_start == 1) {
    findings.push_back(MakeFinding(ReasonType::kOneStep, Asks::kNothing));
  }
  return absl::OkStatus();
}

// Finds a program that found no device. If it went on and computed something, it may have another.
absl::Status JudgeDevice(const Run& run, Findings& findings) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  if (!contents->no_device) return absl::OkStatus();
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  const bool shows_nothing = contents->events == 0 && contents->metrics_reports == 0 &&
                             compiles->rows.empty() && executions->rows.empty();
  const Contents::Notice& notice = *contents->no_device;
  findings.push_back(
      MakeFinding(ReasonType::kNoDevice, shows_nothing ? Asks::kChange : Asks::kNothing,
                  {.message = notice.text,
                   .printed_at = {.file = notice.path, .line = notice.line, .function = ""}}));
  findings.back().count = notice.count;
  findings.back().evidence.push_back({.table = "import_issue"});
  return absl::OkStatus();
}

// Finds a profile whose GPU was not recorded. Launches are only counted if no device was recorded.
absl::Status JudgeKernels(const Run& run, Findings& findings) {
  XP_TRY(const HostOps* ops, run.Get<HostOps>());
  if (ops->launches == 0) return absl::OkStatus();
  findings.push_back(
      MakeFinding(ReasonType::kNoKernels, Asks::kChange, {.launches = ops->launches}));
  return absl::OkStatus();
}

// Finds a profile that shows only a part of the executions that a log counts.
absl::Status JudgeWindow(const Run& run, Findings& findings) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  const int64_t all = int64_t(executions->rows.size());
  const int64_t timed = std::ranges::count_if(
      executions->rows, [](const ExecutionRow& row) { return row.ts_ns || row.enqueue_ts_ns; });
  if (timed > 0 && timed < all) {
    findings.push_back(MakeFinding(ReasonType::kWindow, Asks::kNothing,
                                   {.executions = all, .timed_executions = timed}));
    findings.back().count = timed;
  }
  return absl::OkStatus();
}

// Finds a profile that was taken during a long compilation.
absl::Status JudgeOpenCompiles(const Run& run, Findings& findings) {
  if (run.slice().is_part_of_time()) return absl::OkStatus();
  XP_TRY(const OpenCompiles* open, run.Get<OpenCompiles>());
  for (const OpenCompile& compile : open->all) {
    if (compile.dur_ns < policy::kOpenCompileNs) break;  // the rest are shorter
    const bool is_most =
        double(compile.dur_ns) >= policy::kOpenCompileShare * double(compile.window_ns);
    findings.push_back(MakeFinding(
        ReasonType::kInsideCompile, is_most ? Asks::kChange : Asks::kNothing,
        {.module = compile.module, .passes_ns = compile.dur_ns, .window_ns = compile.window_ns}));
    findings.back().subject.function = compile.module;
    findings.back().evidence.push_back(
        {.table = "event", .ts_ns = compile.ts_ns, .dur_ns = compile.dur_ns});
  }
  return absl::OkStatus();
}

// The facts about a run with compiled graphs that the questions below need.
struct Shown {
  const Contents& contents;
  const std::vector<CompileRow>& compiles;
  const std::vector<ExecutionRow>& executions;
  const Graphs& graphs;

  int64_t jax_compiles() const {  // of jitted functions, and of operations outside of jit
    return std::ranges::count_if(compiles, [](const CompileRow& row) {
      return row.cause == CutKind::kCall || row.cause == CutKind::kOperation;
    });
  }
  int64_t torch_compiles() const {  // of functions under torch.compile
    return std::ranges::count(compiles, CutKind::kCompiledFunction, &CompileRow::cause);
  }
  bool functions_compile_again() const {
    int64_t calls_compiled = 0;
    std::set<std::string> functions;
    for (const CompileRow& compile : compiles) {
      if (compile.cause != CutKind::kCall) continue;
      ++calls_compiled;
      if (compile.function) functions.insert(*compile.function);
    }
    return calls_compiled > int64_t(functions.size()) || compiled_functions_compile_again();
  }
  // Returns whether torch.compile made several programs of a function, such as 0/0 and 0/1 of function
  // 0.
  bool compiled_functions_compile_again() const {
    int64_t programs = 0;
    std::set<std::string> functions;
    for (const CompileRow& compile : compiles) {
      const GraphRow* graph = graphs.Find(compile.graph_id);
      if (compile.cause != CutKind::kCompiledFunction || graph == nullptr || !graph->number)
        continue;
      ++programs;
      functions.insert(graph->number->substr(0, graph->number->rfind('/')));
    }
    return programs > int64_t(functions.size());
  }
  // Returns whether JAX's log explains compiles. Only such a log names their callers.
  bool log_explains_compiles() const {
    return std::ranges::any_of(compiles, [](const CompileRow& row) {
      return row.cause == CutKind::kCall && row.stack_id.has_value();
    });
  }
  bool times_an_execution() const {
    return std::ranges::any_of(executions, [](const ExecutionRow& row) {
      return row.ts_ns || row.dur_ns || row.host_wait_ns;
    });
  }
  // Returns whether a profile shows the threads that asked for executions.
  bool has_profile() const {
    return std::ranges::any_of(executions,
                               [](const ExecutionRow& row) { return row.track_id.has_value(); });
  }
};

struct Question {
  ReasonType type;
  bool (*is_asked)(const Shown& shown);
  bool (*is_answered)(const Shown& shown);
};

// Questions that a run with compiled graphs raises, and that these sources may not answer.
constexpr Question kQuestions[] = {
    {ReasonType::kNoLines,
     [](const Shown& s) { return s.contents.metrics_reports + s.contents.profiler_lines > 0; },
     [](const Shown& s) { return s.contents.sites > 0; }},
    {ReasonType::kNoCounters, [](const Shown& s) { return s.contents.metrics > 0; },
     [](const Shown& s) { return s.contents.counters > 0; }},
    {ReasonType::kNoExecutions, [](const Shown& s) { return s.contents.metrics > 0; },
     [](const Shown& s) { return s.contents.execution_metrics > 0 || !s.executions.empty(); }},
    {ReasonType::kNoGraphs,
     [](const Shown& s) {
       return int64_t(s.compiles.size()) - s.jax_compiles() - s.torch_compiles() > 1;
     },
     [](const Shown& s) { return s.contents.graphs_with_nodes > 0; }},
    {ReasonType::kNoReasons, [](const Shown& s) { return s.functions_compile_again(); },
     [](const Shown& s) {
       return s.log_explains_compiles() ||
              s.contents.compile_reasons + s.contents.graphs_with_nodes > 0;
     }},
    {ReasonType::kOnlyAlarms, [](const Shown& s) { return s.contents.compile_alarms > 0; },
     [](const Shown& s) {
       return !s.compiles.empty() || !s.executions.empty() || s.contents.metrics_reports > 0;
     }},
    {ReasonType::kNoCalls, [](const Shown& s) { return s.jax_compiles() + s.torch_compiles() > 0; },
     [](const Shown& s) { return !s.executions.empty() || s.contents.has_torch_ops; }},
    {ReasonType::kNoClock, [](const Shown& s) { return !s.executions.empty(); },
     [](const Shown& s) { return s.times_an_execution() || s.has_profile(); }},
};

absl::Status FindUnanswered(const Run& run, Findings& findings) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  const Shown shown{*contents, compiles->rows, executions->rows, *graphs};
  for (const Question& question : kQuestions) {
    if (question.is_asked(shown) && !question.is_answered(shown))
      findings.push_back(MakeFinding(question.type, Asks::kNothing,
                                     {.counts_executions = contents->execution_counters > 0}));
  }
  return absl::OkStatus();
}

// Finds the settings that slowed the recorded run. The idle time and the tracing that they cause
// are not the program's fault.
absl::Status FindSlowSettings(const Run& run, Findings& findings) {
  XP_TRY(const Contents* contents, run.Get<Contents>());
  for (const SettingRow& setting : contents->settings) {
    Finding finding = MakeFinding(ReasonType::kRecordingOverhead, Asks::kNothing,
                                  {.is_torch_profile = contents->has_torch_ops,
                                   .setting = setting.name,
                                   .setting_value = setting.value,
                                   .setting_evidence = setting.evidence});
    finding.reason->node = TextOf(setting.name);
    finding.evidence.push_back({.table = "setting"});
    findings.push_back(std::move(finding));
  }
  return absl::OkStatus();
}

absl::StatusOr<Findings> FindIncompleteCaptures(const Run& run) {
  Findings findings;
  XP_TRY(JudgeDevice(run, findings));
  XP_TRY(JudgeEvents(run, findings));
  XP_TRY(JudgeKernels(run, findings));
  XP_TRY(JudgeWindow(run, findings));
  XP_TRY(JudgeOpenCompiles(run, findings));
  XP_TRY(FindUnanswered(run, findings));
  XP_TRY(FindSlowSettings(run, findings));
  XP_TRY(const ObservedProcesses* observed, run.Get<ObservedProcesses>());
  for (Finding& finding : findings) {
    std::any_cast<IncompleteCaptureFigures&>(finding.figures).is_recorded_by_run =
        !observed->rows.empty();
  }
  return findings;
}

}  // namespace

extern const Analyzer incomplete_capture{
    .name = "incomplete_capture",
    .summary = "what the sources do not show, and how to record it",
    .meaning =
        "The files cannot answer a question that this run raises, or the capture itself slowed the run. The finding says what is missing and how to record it.",
    .looks_at = "the contents of all sources",
    .find = FindIncompleteCaptures,
    .say = SayIncompleteCapture,
    .thresholds = {policy::kOpenCompileNs, policy::kOpenCompileShare, policy::kEventsOfOldProfilers,
                   policy::kEventsOfNewProfilers},
    .is_about_capture = true};
}  // namespace xlaprof
