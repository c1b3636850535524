// The words of incomplete_capture.
#include "analyzers/incomplete_capture.h"

#include <fmt/format.h>

namespace xlaprof {
namespace {

std::string SettingTitle(const IncompleteCaptureFigures& figures) {
  switch (figures.setting) {
    case SettingName::kIrDebug:
    case SettingName::kHloDebug:
      return "the run was slowed by IR debugging";
    case SettingName::kPythonTracer:
      return "the run was slowed by the Python tracer";
    case SettingName::kSaveTensors:
      return "the run was slowed by graph dumps";
    case SettingName::kWithStack:
    case SettingName::kProfileMemory:
    case SettingName::kUnknown:
      break;
  }
  return fmt::format("the run was recorded with {} = {}", figures.setting, figures.setting_value);
}

std::string SettingAdvice(const IncompleteCaptureFigures& figures, Framework framework) {
  switch (figures.setting) {
    case SettingName::kIrDebug:
    case SettingName::kHloDebug:
      return fmt::format(
          "{} every op: for times that count, record again without XLA_IR_DEBUG and XLA_HLO_DEBUG.",
          framework == Framework::kCpp ? "It prints the place of" : "It takes a Python stack at");
    case SettingName::kPythonTracer:
      return fmt::format("It records every Python call: for times that count, record with {}.",
                         figures.is_torch_profile ? "with_stack=False" : "python_tracer_level=0");
    case SettingName::kSaveTensors:
      return "Each sync writes its whole graph, cached or not: for times that count, record without XLA_SAVE_TENSORS_FILE.";
    case SettingName::kWithStack:
    case SettingName::kProfileMemory:
    case SettingName::kUnknown:
      break;
  }
  return "For times that count, record without it.";
}

std::string Title(ReasonType type, const IncompleteCaptureFigures& figures) {
  switch (type) {
    case ReasonType::kCutProfile:
      return "the profile is cut before its first event";
    case ReasonType::kEmptyProfile:
      return "the profile holds no events";
    case ReasonType::kCapped:
      return fmt::format("the profile stopped at its limit of {} events", figures.event_limit);
    case ReasonType::kNoStepMarkers:
      return "the profile has no step markers";
    case ReasonType::kOneStep:
      return "the profile covers a single step";
    case ReasonType::kWindow:
      return fmt::format("the profile saw {} of {} executions", figures.timed_executions,
                         figures.executions);
    case ReasonType::kNoLines:
      return "no source names lines of code";
    case ReasonType::kNoCounters:
      return "the metrics reports have no counters: they seem to be cut";
    case ReasonType::kNoExecutions:
      return "the metrics reports have no executions: they are cut, or nothing ran yet";
    case ReasonType::kNoGraphs:
      return "no source holds the graphs";
    case ReasonType::kNoReasons:
      return "no source says why functions were compiled again";
    case ReasonType::kOnlyAlarms:
      return "the log tells only of compilations that XLA complained of";
    case ReasonType::kNoCalls:
      return "no source has executions";
    case ReasonType::kNoClock:
      return "no source has times of executions";
    case ReasonType::kRecordingOverhead:
      return SettingTitle(figures);
    default:
      return "";
  }
}

std::string Why(ReasonType type, const IncompleteCaptureFigures& figures) {
  switch (type) {
    case ReasonType::kCutProfile:
      return "the file on disk is not whole; its events came after the cut";
    case ReasonType::kEmptyProfile:
      return "it was taken while nothing ran, or the profiler server object was gone";
    case ReasonType::kCapped:
      return "what came after is not in the file";
    case ReasonType::kNoStepMarkers:
      return "without them the time of a step, and whether it changes, cannot be told";
    case ReasonType::kOneStep:
      return "one step cannot be told from warm-up";
    case ReasonType::kWindow:
      return "counts come from the sources that saw the whole run, times only from inside the profile's window";
    case ReasonType::kNoLines:
      return "metrics reports and pt-xla-profiler lines count, but carry no call sites";
    case ReasonType::kNoCounters:
      return "ops on the CPU, reads of numbers and step marks are counted there";
    case ReasonType::kNoExecutions:
      return "what compiling and transfers cost is judged by them";
    case ReasonType::kNoGraphs:
      return "why a graph was compiled again shows only in the graphs themselves";
    case ReasonType::kNoReasons:
      return "the log shows the types of the inputs, not static arguments, settings and functions that are defined anew";
    case ReasonType::kOnlyAlarms:
      return "its alarms ring for what takes over a second, or two minutes";
    case ReasonType::kNoCalls:
      return "what was compiled is known, not how often it ran nor what a step costs";
    case ReasonType::kNoClock:
      return "a log and a dump tell what happened and in which order, not how long it took";
    case ReasonType::kRecordingOverhead:
      return figures.setting_evidence;
    default:
      return "";
  }
}

std::string StepMarksAdvice(const IncompleteCaptureFigures& figures, Framework framework) {
  if (framework == Framework::kCpp)
    return R"(Mark each step: StepTrace step("train", i); where steps are marked already, trace for longer than one step.)";
  return fmt::format(
      "Mark each step: {}torch_xla.debug.profiler.StepTrace('train', step_num=i), or jax.profiler.StepTraceAnnotation; where steps are marked already, trace for longer than one step.",
      figures.is_torch_profile ? "prof.step() of torch.profiler, " : "");
}

// How to get the whole metrics report.
std::string_view ReportCall(Framework framework) {
  return framework == Framework::kCpp ? "metrics_report()"
                                      : "torch_xla.debug.metrics.metrics_report()";
}

std::string Advice(ReasonType type, const IncompleteCaptureFigures& figures, Framework framework) {
  switch (type) {
    case ReasonType::kCutProfile:
      return "Copy the file again, or wait until it is written.";
    case ReasonType::kEmptyProfile:
      return "Keep the object that xp.start_server returns, take the trace while steps run, and make it longer than a step.";
    case ReasonType::kCapped:
      return "Take a shorter trace, or one with host_tracer_level=1 and no Python tracer.";
    case ReasonType::kNoStepMarkers:
      return StepMarksAdvice(figures, framework);
    case ReasonType::kOneStep:
      return "Trace for at least ten steps.";
    case ReasonType::kWindow:
      return "To time the rest, start the trace later or make it longer (duration_ms).";
    case ReasonType::kNoLines:
      return "Run with PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=log.txt and report on both files.";
    case ReasonType::kNoCounters:
      return fmt::format("Report on all that {} returns.", ReportCall(framework));
    case ReasonType::kNoExecutions:
      return fmt::format("Report on all that {} returns, after some steps.", ReportCall(framework));
    case ReasonType::kNoGraphs:
      return "Run with XLA_SAVE_TENSORS_FILE=graphs.txt XLA_IR_DEBUG=1 for a few steps, or take a profile of the steps that recompile.";
    case ReasonType::kNoReasons:
      return "Run with JAX_EXPLAIN_CACHE_MISSES=1 beside JAX_LOG_COMPILES=1.";
    case ReasonType::kOnlyAlarms:
      return "To see all, and why: JAX_LOG_COMPILES=1 JAX_EXPLAIN_CACHE_MISSES=1, or PT_XLA_DEBUG_LEVEL=2 for torch_xla.";
    case ReasonType::kNoCalls:
      return "Take a profile as well: jax.profiler.trace(DIR).";
    case ReasonType::kNoClock:
      return fmt::format("Take a profile as well: {}, or XLA_METRICS_FILE for sums.",
                         framework == Framework::kCpp
                             ? "run with XLAPROF_RECORD=PATH"
                             : "torch_xla.debug.profiler.trace('localhost:9012', DIR)");
    case ReasonType::kRecordingOverhead:
      return SettingAdvice(figures, framework);
    default:
      return "";
  }
}

}  // namespace

Words SayIncompleteCapture(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const IncompleteCaptureFigures&>(finding.figures);
  const ReasonType type = finding.reason->type;
  Words words{.title = Title(type, figures),
              .why = Why(type, figures),
              .cost_note = "does not apply",
              .advice = Advice(type, figures, framework)};
  if (type == ReasonType::kRecordingOverhead) {
    words.evidence = {fmt::format("{} = {}: {}", figures.setting, figures.setting_value,
                                  figures.setting_evidence)};
  }
  return words;
}

}  // namespace xlaprof
