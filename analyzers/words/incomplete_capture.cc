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
  return fmt::format("Record again {}{}.", figures.is_recorded_by_run ? "without --full and " : "",
                     without);
}

std::string SettingAdvice(const IncompleteCaptureFigures& figures, Framework framework) {
  switch (figures.setting) {
    case SettingName::kIrDebug:
    case SettingName::kHloDebug:
      return fmt::format("{} every op, which distorts these timings. {}",
                         framework == Framework::kCpp ? "It records a C++ stack at"
                                                      : "It records a Python stack at",
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

// Returns what each finding says: what is missing or distorted, what that hides, and how to capture it.
Words Say(ReasonType type, const IncompleteCaptureFigures& figures, Framework framework) {
  const bool is_torch = framework == Framework::kPytorch || framework == Framework::kTorchtpu;
  const bool is_gaudi = framework == Framework::kGaudi;
  const bool by_run = figures.is_recorded_by_run;
  constexpr std::string_view kMoreSteps =
      "Let the program run for more steps, so that some are profiled.";
  switch (type) {
    case ReasonType::kNoDevice:
      return {.title = "the program found no device for XLA",
              .why = fmt::format("The log has this error: {}", figures.message),
              .advice = DeviceAdvice(figures),
              .evidence = {figures.printed_at.text()}};
    case ReasonType::kCutProfile:
      return {.title = "the profile is cut before its first event",
              .why = "The file on disk is incomplete. Its events came after the cut.",
              .advice = "Copy the file again, or wait until it is written."};
    case ReasonType::kEmptyProfile:
      return {
          .title = "the profile holds no events",
          .why =
              "The profile was taken while nothing ran, or after the profiler server object was deleted.",
          .advice =
              framework == Framework::kPytorchXla
                  ? "Keep the object that torch_xla.debug.profiler.start_server returns, take the trace while steps run, and make it longer than a step."
                  : "Take the trace while steps run, and make it longer than a step."};
    case ReasonType::kCapped:
      return {
          .title =
              fmt::format("the profile stopped at its limit of {} events", figures.event_limit),
          .why = "Later events are not in the file.",
          .advice = "Take a shorter trace, or one with host_tracer_level=1 and no Python tracer."};
    case ReasonType::kNoStepMarkers:
      return {.title = "the profile has no step markers",
              .why = "Without step markers, the time of a step and its changes are not known.",
              .advice = StepMarksAdvice(figures, framework)};
    case ReasonType::kOneStep:
      return {.title = "the profile covers a single step",
              .why = "One step cannot be distinguished from warm-up.",
              .advice = "Trace for at least ten steps."};
    case ReasonType::kWindow:
      return {
          .title = fmt::format("the profile saw {} of {} executions", figures.timed_executions,
                               figures.executions),
          .why =
              "Counts come from the sources that saw the whole run. Times come only from the profile's window.",
          .advice = by_run ? "To time others, name the steps to profile with --steps A:B."
                           : "To time all executions, trace for longer (duration_ms)."};
    case ReasonType::kInsideCompile:
      return {
          .title = fmt::format(
              "the profile was taken during the compilation of {}, which fills at least {} of its {}",
              figures.module, DurationText(figures.passes_ns), DurationText(figures.window_ns)),
          .why =
              "The profile holds passes of XLA's compiler, but no complete compilation of this program, because it began before the profile or ended after it.",
          .advice =
              "Start the profile after the first steps, or make it longer than the compilation.",
          .unseen = Unseen{"whether later steps compile, too"}};
    case ReasonType::kNoKernels:
      return {
          .title = fmt::format("the profile has {} of kernels, but no kernel",
                               Plural(figures.launches, "launch", "launches")),
          .why =
              "The host launched work for a GPU, and the profiler recorded nothing that the GPU did. So nothing shows whether the GPU was busy.",
          .advice =
              "Record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], without another profiler on the same GPU, and with the right to read its counters (in a container: --cap-add SYS_ADMIN)."};
    case ReasonType::kNoLines:
      return {
          .title = "no source names lines of code",
          .why = "Metrics reports and pt-xla-profiler lines hold counts but no call sites.",
          .unseen = Unseen{"the lines", is_gaudi ? RecordingKind::kProfile : RecordingKind::kLog}};
    case ReasonType::kNoCounters:
      return {
          .title = is_gaudi
                       ? "the file has only the metrics that changed before its process was stopped"
                       : "the metrics reports have no counters, so they seem to be cut",
          .why = "The counters show ops on the CPU, reads of numbers and step marks.",
          .advice =
              is_gaudi ? "Report on the file of a process that ended by itself. It has all metrics."
                       : fmt::format("Report on the whole text that {} returns.",
                                     ReportCall(framework))};
    case ReasonType::kNoExecutions:
      return {
          .title =
              is_gaudi ? "the metrics do not time executions"
              : figures.counts_executions
                  ? "the metrics reports count executions but do not time them, so they seem to be cut"
                  : "the metrics reports have no executions, because they are cut or nothing ran yet",
          .why = "The cost of compiling and of transfers is judged by the executions.",
          .advice =
              is_gaudi
                  ? "A profile of torch.profiler does. PT_HPU_ENABLE_CACHE_METRICS=1 counts how often compiled recipes are used."
                  : fmt::format("Report on the whole text that {} returns after some steps.",
                                ReportCall(framework))};
    case ReasonType::kNoGraphs:
      return {
          .title = "no source holds the graphs",
          .why =
              "Only the graphs themselves show which input or operation differs when a graph is compiled again.",
          .unseen = Unseen{"the graphs", RecordingKind::kGraphs}};
    case ReasonType::kNoReasons:
      return {
          .title = "no source says why functions were compiled again",
          .why =
              is_torch
                  ? "The trace shows that torch.compile made several programs of a function, but not which check of the earlier ones failed."
                  : "The log shows the types of the inputs, but not static arguments, settings, or functions that are defined again.",
          .unseen = Unseen{"the reasons"}};
    case ReasonType::kOnlyAlarms:
      return {
          .title = "the log shows only compilations that XLA complained about",
          .why =
              "XLA reports only constant folding of more than a second, and compilations of more than two minutes.",
          .unseen = Unseen{"all compilations and their reasons"}};
    case ReasonType::kNoCalls:
      return {
          .title = "no source has executions",
          .why =
              "The sources show what was compiled, but not how often it ran or what a step costs.",
          .advice = std::string(by_run ? kMoreSteps : ""),
          .unseen = Unseen{"them", RecordingKind::kProfile}};
    case ReasonType::kNoClock:
      return {
          .title = "no source has times of executions",
          .why =
              framework == Framework::kTorchtpu
                  ? "The files show when each graph was asked for, but not how long the device worked."
                  : "A log and a dump show what happened and in which order, but not how long it took.",
          .advice = std::string(by_run ? kMoreSteps : ""),
          .unseen = Unseen{"the times", RecordingKind::kProfile}};
    case ReasonType::kRecordingOverhead:
      return {.title = SettingTitle(figures),
              .why = figures.setting_evidence,
              .advice = SettingAdvice(figures, framework),
              .evidence = {fmt::format("{} = {}: {}", figures.setting, figures.setting_value,
                                       figures.setting_evidence)}};
    default:
      return {};
  }
}

}  // namespace

Words SayIncompleteCapture(const Finding& finding, Framework framework) {
  Words words = Say(finding.reason->type,
                    std::any_cast<const IncompleteCaptureFigures&>(finding.figures), framework);
  words.cost_note = "does not apply";
  return words;
}

}  // namespace xlaprof
