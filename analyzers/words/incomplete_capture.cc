// The words of incomplete_capture.
#include "analyzers/incomplete_capture.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"

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

// `without` names what distorts the times, such as "without XLA_IR_DEBUG".
std::string RecordAgain(const IncompleteCaptureFigures& figures, std::string_view without) {
  return fmt::format("Record again {}{}.",
                     figures.is_recorded_by_run ? "without --full and " : "", without);
}

std::string SettingAdvice(const IncompleteCaptureFigures& figures, Framework framework) {
  switch (figures.setting) {
    case SettingName::kIrDebug:
    case SettingName::kHloDebug:
      return fmt::format(
          "{} every op, which distorts these timings. {}",
          framework == Framework::kCpp ? "It records a C++ stack at" : "It records a Python stack at",
          RecordAgain(figures, "without XLA_IR_DEBUG and XLA_HLO_DEBUG"));
    case SettingName::kPythonTracer:
      if (figures.is_recorded_by_run)
        return "It records every Python call during the profile, which distorts the times in the profile. Times of steps outside of the profile are not affected.";
      return fmt::format(
          "It records every Python call, which distorts these timings. Record again with {}.",
          figures.is_torch_profile ? "with_stack=False" : "python_tracer_level=0");
    case SettingName::kSaveTensors:
      return "Each sync writes its whole graph, cached or not, which distorts these timings. " +
             RecordAgain(figures, "without XLA_SAVE_TENSORS_FILE");
    case SettingName::kWithStack:
    case SettingName::kProfileMemory:
    case SettingName::kUnknown:
      break;
  }
  return fmt::format("{} distorts these timings. {}", figures.setting,
                     RecordAgain(figures, "without it"));
}

// Returns how to name a device. Only the lazy runtime's own error says it itself.
std::string DeviceAdvice(const IncompleteCaptureFigures& figures) {
  if (figures.message.find("XLAPROF_DEVICE") != std::string::npos)
    return "Set XLAPROF_DEVICE as the error says.";
  return "Set PJRT_DEVICE to a device of this machine before the program starts: PJRT_DEVICE=CPU, TPU or CUDA. (torch_xla before 2.0 also takes XRT_TPU_CONFIG or GPU_NUM_DEVICES.) If the program should not use XLA, uninstall torch_xla, because libraries such as transformers use it if it is installed.";
}

std::string Title(ReasonType type, const IncompleteCaptureFigures& figures, Framework framework) {
  switch (type) {
    case ReasonType::kNoDevice:
      return "the program found no device for XLA";
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
    case ReasonType::kInsideCompile:
      return fmt::format(
          "the profile was taken during the compilation of {}, which fills at least {} of its {}",
          figures.module, DurationText(figures.passes_ns), DurationText(figures.window_ns));
    case ReasonType::kNoKernels:
      return fmt::format("the profile has {} of kernels, but no kernel",
                         Plural(figures.launches, "launch", "launches"));
    case ReasonType::kNoLines:
      return "no source names lines of code";
    case ReasonType::kNoCounters:
      return framework == Framework::kGaudi
                 ? "the file has only the metrics that changed before its process was stopped"
                 : "the metrics reports have no counters, so they seem to be cut";
    case ReasonType::kNoExecutions:
      if (framework == Framework::kGaudi) return "the metrics do not time executions";
      if (figures.counts_executions)
        return "the metrics reports count executions but do not time them, so they seem to be cut";
      return "the metrics reports have no executions, because they are cut or nothing ran yet";
    case ReasonType::kNoGraphs:
      return "no source holds the graphs";
    case ReasonType::kNoReasons:
      return "no source says why functions were compiled again";
    case ReasonType::kOnlyAlarms:
      return "the log shows only compilations that XLA complained about";
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

std::string Why(ReasonType type, const IncompleteCaptureFigures& figures, Framework framework) {
  const bool is_torch = framework == Framework::kPytorch || framework == Framework::kTorchtpu;
  switch (type) {
    case ReasonType::kNoDevice:
      return fmt::format("The log has this error: {}", figures.message);
    case ReasonType::kCutProfile:
      return "The file on disk is incomplete. Its events came after the cut.";
    case ReasonType::kEmptyProfile:
      return "The profile was taken while nothing ran, or after the profiler server object was deleted.";
    case ReasonType::kCapped:
      return "Later events are not in the file.";
    case ReasonType::kNoStepMarkers:
      return "Without step markers, the time of a step and its changes are not known.";
    case ReasonType::kOneStep:
      return "One step cannot be distinguished from warm-up.";
    case ReasonType::kWindow:
      return "Counts come from the sources that saw the whole run. Times come only from the profile's window.";
    case ReasonType::kInsideCompile:
      return "The profile holds passes of XLA's compiler, but no complete compilation of this program, because it began before the profile or ended after it.";
    case ReasonType::kNoKernels:
      return "The host launched work for a GPU, and the profiler recorded nothing that the GPU did. So nothing shows whether the GPU was busy.";
    case ReasonType::kNoLines:
      return "Metrics reports and pt-xla-profiler lines hold counts but no call sites.";
    case ReasonType::kNoCounters:
      return "The counters show ops on the CPU, reads of numbers and step marks.";
    case ReasonType::kNoExecutions:
      return "The cost of compiling and of transfers is judged by the executions.";
    case ReasonType::kNoGraphs:
      return "Only the graphs themselves show which input or operation differs when a graph is compiled again.";
    case ReasonType::kNoReasons:
      return is_torch
                 ? "The trace shows that torch.compile made several programs of a function, but not which check of the earlier ones failed."
                 : "The log shows the types of the inputs, but not static arguments, settings, or functions that are defined again.";
    case ReasonType::kOnlyAlarms:
      return "XLA reports only constant folding of more than a second, and compilations of more than two minutes.";
    case ReasonType::kNoCalls:
      return "The sources show what was compiled, but not how often it ran or what a step costs.";
    case ReasonType::kNoClock:
      return framework == Framework::kTorchtpu
                 ? "The files show when each graph was asked for, but not how long the device worked."
                 : "A log and a dump show what happened and in which order, but not how long it took.";
    case ReasonType::kRecordingOverhead:
      return figures.setting_evidence;
    default:
      return "";
  }
}

std::string StepMarksAdvice(const IncompleteCaptureFigures& figures, Framework framework) {
  if (figures.steps_are_traced)
    return "Trace for longer than one step. The log shows that the program runs its steps in StepTrace, so the profile ended before a step did.";
  const std::string_view kLonger =
      figures.steps_are_known ? ""
                              : " If steps are already marked, trace for longer than one step.";
  if (framework == Framework::kCpp)
    return fmt::format(R"(Mark each step: StepTrace step("train", i).{})", kLonger);
  if (figures.is_torch_profile || framework == Framework::kPytorch ||
      framework == Framework::kTorchtpu)
    return fmt::format(
        "Give torch.profiler.profile a schedule (schedule=torch.profiler.schedule(wait=2, warmup=1, active=10)) and call prof.step() after each step. Without a schedule, prof.step() marks nothing.{}",
        kLonger);
  if (framework == Framework::kJax)
    return fmt::format(
        "Run each step in `with jax.profiler.StepTraceAnnotation('train', step_num=i):`.{}",
        kLonger);
  if (framework == Framework::kPytorchXla)
    return fmt::format(
        "Run each step in `with torch_xla.debug.profiler.StepTrace('train', step_num=i):` in place of torch_xla.sync(). It syncs when it ends, and a sync inside it raises RuntimeError.{}",
        kLonger);
  return fmt::format("Mark each step with the framework's step annotation.{}", kLonger);
}

// Returns the call that prints the whole metrics report.
std::string_view ReportCall(Framework framework) {
  return framework == Framework::kCpp ? "metrics_report()"
                                      : "torch_xla.debug.metrics.metrics_report()";
}

// Returns what to change about a run that `xlaprof run` recorded, or "" if the same holds as for others.
std::string_view AdviceForRun(ReasonType type) {
  switch (type) {
    case ReasonType::kWindow:
      return "To time others, name the steps to profile with --steps A:B.";
    case ReasonType::kNoCalls:
    case ReasonType::kNoClock:
      return "Let the program run for more steps, so that some are profiled.";
    default:
      return "";
  }
}

// Returns what the finding says is missing, if another recording has it.
std::optional<Unseen> UnseenOf(ReasonType type, Framework framework) {
  switch (type) {
    case ReasonType::kInsideCompile:
      return Unseen{"whether later steps compile, too"};
    case ReasonType::kNoLines:
      return Unseen{"the lines", framework == Framework::kGaudi ? RecordingKind::kProfile : RecordingKind::kLog};
    case ReasonType::kNoGraphs:
      return Unseen{"the graphs", RecordingKind::kGraphs};
    case ReasonType::kNoReasons:
      return Unseen{"the reasons"};
    case ReasonType::kOnlyAlarms:
      return Unseen{"all compilations and their reasons"};
    case ReasonType::kNoCalls:
      return Unseen{"them", RecordingKind::kProfile};
    case ReasonType::kNoClock:
      return Unseen{"the times", RecordingKind::kProfile};
    default:
      return {};
  }
}

std::string Advice(ReasonType type, const IncompleteCaptureFigures& figures, Framework framework) {
  switch (type) {
    case ReasonType::kNoDevice:
      return DeviceAdvice(figures);
    case ReasonType::kCutProfile:
      return "Copy the file again, or wait until it is written.";
    case ReasonType::kEmptyProfile:
      return framework == Framework::kPytorchXla
                 ? "Keep the object that torch_xla.debug.profiler.start_server returns, take the trace while steps run, and make it longer than a step."
                 : "Take the trace while steps run, and make it longer than a step.";
    case ReasonType::kCapped:
      return "Take a shorter trace, or one with host_tracer_level=1 and no Python tracer.";
    case ReasonType::kNoStepMarkers:
      return StepMarksAdvice(figures, framework);
    case ReasonType::kOneStep:
      return "Trace for at least ten steps.";
    case ReasonType::kWindow:
      return "To time all executions, trace for longer (duration_ms).";
    case ReasonType::kInsideCompile:
      return "Start the profile after the first steps, or make it longer than the compilation.";
    case ReasonType::kNoKernels:
      return "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], without another profiler on the same GPU, and with the right to read its counters (in a container: --cap-add SYS_ADMIN).";
    case ReasonType::kNoCounters:
      if (framework == Framework::kGaudi)
        return "Report on the file of a process that ended by itself. It has all metrics.";
      return fmt::format("Report on the whole text that {} returns.", ReportCall(framework));
    case ReasonType::kNoExecutions:
      if (framework == Framework::kGaudi)
        return "A profile of torch.profiler does. PT_HPU_ENABLE_CACHE_METRICS=1 counts how often compiled recipes are used.";
      return fmt::format("Report on the whole text that {} returns after some steps.",
                         ReportCall(framework));
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
  const std::string_view for_run = figures.is_recorded_by_run ? AdviceForRun(type) : "";
  Words words{
      .title = Title(type, figures, framework),
      .why = Why(type, figures, framework),
      .cost_note = "does not apply",
      .advice = for_run.empty() ? Advice(type, figures, framework) : std::string(for_run),
      .unseen = UnseenOf(type, framework)};
  if (type == ReasonType::kNoDevice) words.evidence = {figures.printed_at.text()};
  if (type == ReasonType::kRecordingOverhead) {
    words.evidence = {fmt::format("{} = {}: {}", figures.setting, figures.setting_value,
                                  figures.setting_evidence)};
  }
  return words;
}

}  // namespace xlaprof
