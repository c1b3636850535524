#include "analyzers/device_gap.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/words/slow_settings.h"

namespace xlaprof {
namespace {

// Words for what happened while the device was idle, and the advice.
struct CauseWords {
  std::string meanwhile;  // continues "idle while "
  std::string advice;
};

// Returns the scopes in which the host did it: " in 25 scopes, most in 'layer 0'".
std::string InScopes(const DeviceGapFigures& figures) {
  std::string in = figures.scopes > 1 ? fmt::format(" in {} scopes", figures.scopes) : "";
  if (!figures.scope.empty())
    in += fmt::format("{} in '{}'", figures.scopes > 1 ? ", most" : "", figures.scope);
  return in;
}

CauseWords OfUserCode(const DeviceGapFigures& figures, Framework framework) {
  CauseWords words;
  if (figures.scopes > 1)
    words.meanwhile = "the host was" + InScopes(figures);
  else if (figures.in_step)
    words.meanwhile =
        fmt::format("the host ran code of step '{}' outside any scope", figures.scope);
  else
    words.meanwhile = fmt::format("the host was in scope '{}'", figures.scope);

  if (!figures.in_step)
    words.advice =
        "Move this work off the step's thread (to a worker thread or a later step), or do it on the device. If it needs a result, start it on a copy of the last step's result, so that the device has work meanwhile.";
  else if (framework == Framework::kCpp)
    words.advice =
        "Add scopes (Trace, XLAPROF_TRACE) around the parts of the step to see which one keeps the device waiting, and move that work off the step's thread.";
  else
    words.advice =
        "Add scopes (xp.Trace) around the parts of the step to see which one keeps the device waiting, and move that work off the step's thread.";
  return words;
}

// Returns the words for what the host did.
CauseWords OfDoing(const DeviceGapFigures& figures, Framework framework) {
  const bool cpp = framework == Framework::kCpp;
  switch (figures.doing) {
    case Doing::kNothing:
      if (!figures.host_recorded)
        return {"the host was not recorded",
                "Record the host as well (host_tracer_level 2) to see what it did."};
      return {
          "the host did nothing that was recorded",
          cpp ? "Put the host's work between the steps into a scope (Trace, XLAPROF_TRACE) to see what it is."
              : "Put the host's work between the steps into a scope (xp.Trace, jax.profiler.TraceAnnotation) to see what it is."};
    case Doing::kUserCode:
      return OfUserCode(figures, framework);
    case Doing::kRuntime:
      return {"the host was in the runtime" + InScopes(figures),
              "The runtime was waiting or preparing work. Look at the gaps on the timeline."};
    case Doing::kTracing:
      return {
          "the host traced and prepared graphs" + InScopes(figures),
          cpp ? "Tracing cannot keep up with the device. Give the device more work per step."
              : "Tracing cannot keep up with the device. Compile the step once (torch_xla.compile, jax.jit), use scan for repeated layers, or give the device more work per step."};
    case Doing::kExecute:
      return {"the host asked for executions" + InScopes(figures),
              "Launching takes longer than running. Merge small executions into one per step."};
    case Doing::kInput:
      return {"the host waited for data" + InScopes(figures),
              "See input_bound: load ahead with more workers or a deeper prefetch."};
    case Doing::kTransfer:
      return {
          "the host copied between host and device" + InScopes(figures),
          "Copy less often, less at a time, or asynchronously. Keep values on the device if the host reads them only rarely."};
    case Doing::kCompile:
      return {"the host compiled" + InScopes(figures),
              "See recompilation and slow_compile, which say what compiling costs."};
  }
  return {};
}

// Returns the advice if the host only launches too late.
std::string LateLaunchAdvice(const DeviceGapFigures& figures, Framework framework) {
  const bool cpp = framework == Framework::kCpp;
  if (!figures.launches_in_scope)
    return "This scope launches nothing. Move its work off the step's thread (to the workers of a DataLoader or a thread of its own), or do it on the device.";
  if (figures.doing == Doing::kUserCode && !figures.in_step) {
    return cpp ? "The host launches work too late for the device. Compile this part, replay it (CUDA graphs), or remove what is not needed in each step."
               : "The host launches work too late for the device. Compile this part (torch.compile), replay it (CUDA graphs), or remove what is not needed in each step.";
  }
  return cpp ? "The host launches work too late for the device. Compile the step or replay it (CUDA graphs). Put record_function scopes around its parts to see which one is late."
             : "The host launches work too late for the device. Compile the step (torch.compile) or replay it (CUDA graphs). Put record_function scopes around its parts to see which one is late.";
}

CauseWords OfLateHost(const DeviceGapFigures& figures, Framework framework) {
  CauseWords words = OfDoing(figures, framework);
  words.meanwhile += fmt::format(" ({})", GapWaitText(figures.wait));
  switch (figures.doing) {
    case Doing::kInput:
    case Doing::kTransfer:
    case Doing::kCompile:
      break;  // The host itself is slow here, so the advice for its activity applies.
    case Doing::kNothing:
    case Doing::kUserCode:
    case Doing::kRuntime:
    case Doing::kTracing:
    case Doing::kExecute:
      words.advice = LateLaunchAdvice(figures, framework);
  }
  return words;
}

// Returns the words for what the device waited for. This is what the host did, unless the work is
// launched call by call.
CauseWords OfCause(const DeviceGapFigures& figures, Framework framework) {
  const bool cpp = framework == Framework::kCpp;
  switch (figures.wait) {
    case GapWait::kUnknown:
      return OfDoing(figures, framework);
    case GapWait::kHostWait:
      return OfLateHost(figures, framework);
    case GapWait::kLaunch:
      return {
          fmt::format("the call that launches the next kernel was running ({})",
                      GapWaitText(figures.wait)),
          cpp ? "Launching takes longer than the kernels run. Fuse the kernels, replay them as one (CUDA graphs), or give each of them more work."
              : "Launching takes longer than the kernels run. Fuse the kernels (torch.compile), replay them as one (CUDA graphs), or give each of them more work."};
    case GapWait::kKernelWait:
      return {
          fmt::format("the next kernel was already launched and waited ({})",
                      GapWaitText(figures.wait)),
          cpp ? "The host is ahead, and kernels wait for each other. If the gaps are many and short, fuse the kernels (CUDA graphs). If they are few and long, look at the other streams, copies and events that the kernels wait for."
              : "The host is ahead, and kernels wait for each other. If the gaps are many and short, fuse the kernels (torch.compile, CUDA graphs). If they are few and long, look at the other streams, copies and events that the kernels wait for."};
  }
  return {};
}

std::string_view ShareOfText(IdleShareOf share_of) {
  switch (share_of) {
    case IdleShareOf::kSteadySteps:
      return "of the steady time";
    case IdleShareOf::kStepsWithoutCompiles:
      return "of the steps that do not compile";
    case IdleShareOf::kExecutions:
      return "of the time between its executions";
  }
  return "";
}

std::string Title(const Finding& finding, const DeviceGapFigures& figures,
                  const CauseWords& cause) {
  return fmt::format("{} idle {} ({:.1f} % {}) in {} while {}", figures.device,
                     DurationText(*finding.cost_ns), 100 * figures.share,
                     ShareOfText(figures.share_of), Plural(*finding.count, "gap"), cause.meanwhile);
}

std::string SlowedBy(const std::string& what) {
  return fmt::format(
      "The capture's own settings slow this down: {}. The idle time may disappear without them.",
      what);
}

// Returns what the host did before it left the device idle, if that is known.
std::string AfterFetch(const DeviceGapFigures& figures) {
  const FetchesBeforeGaps& fetches = figures.fetches;
  if (2 * fetches.gaps <= int64_t(figures.parts_ns.size())) return "";
  return fmt::format("Before {} of the {}, the host fetched data from the device{}.", fetches.gaps,
                     Plural(int64_t(figures.parts_ns.size()), "longest gap"),
                     fetches.name.empty() ? "" : " (" + fetches.name + ")");
}

std::string Why(const Finding& finding, const DeviceGapFigures& figures) {
  switch (figures.verdict) {
    case DeviceGapVerdict::kPattern:
      return AfterFetch(figures);
    case DeviceGapVerdict::kRare:
      return fmt::format("It is the main cause of only {}.", Plural(*finding.count, "gap"));
    case DeviceGapVerdict::kPricedElsewhere:
      return "Another finding says what this costs.";
    case DeviceGapVerdict::kPythonTracer:
      return SlowedBy("the Python tracer");
    case DeviceGapVerdict::kSlowTracing:
      return SlowedBy(SlowSettingsText(figures.settings));
    case DeviceGapVerdict::kScopeTraces:
      return SlowedBy(
          fmt::format("{}; '{}' traces ops", SlowSettingsText(figures.settings), figures.scope));
    case DeviceGapVerdict::kScopeReads:
      return SlowedBy(
          fmt::format("{}; '{}' reads values", SlowSettingsText(figures.settings), figures.scope));
  }
  return "";
}

std::string CostNote(const DeviceGapFigures& figures) {
  std::string note = fmt::format(
      "idle time of {} between executions, {}{}.", figures.device,
      figures.chances_are_steps ? fmt::format("in {}", Plural(figures.chances, "steady step"))
                                : fmt::format("among {}", Plural(figures.chances, "execution")),
      figures.from_ops ? ", from its ops" : "");
  if (const std::optional<IdleOfDevices>& all = figures.all_devices) {
    note += fmt::format(" The {} devices idle {:.1f} to {:.1f} %; {} idles most.", all->devices,
                        100 * all->least_share, 100 * all->most_share, figures.device);
  }
  return note;
}

std::string Advice(const DeviceGapFigures& figures, const CauseWords& cause) {
  switch (figures.verdict) {
    case DeviceGapVerdict::kPattern:
    case DeviceGapVerdict::kRare:
    case DeviceGapVerdict::kPricedElsewhere:
      return cause.advice;
    case DeviceGapVerdict::kPythonTracer:
    case DeviceGapVerdict::kSlowTracing:
    case DeviceGapVerdict::kScopeTraces:
    case DeviceGapVerdict::kScopeReads:
      return "Record again without these settings before you act on this finding.";
  }
  return "";
}

std::vector<std::string> EvidenceLines(const Finding& finding, const DeviceGapFigures& figures) {
  const bool host_matters = figures.wait == GapWait::kUnknown || figures.wait == GapWait::kHostWait;
  const std::string_view what = host_matters ? DoingText(figures.doing) : GapWaitText(figures.wait);
  std::vector<std::string> lines;
  for (size_t i = 0; i < figures.parts_ns.size(); ++i) {
    lines.push_back(fmt::format("gap of {}, {} of it {}", DurationText(*finding.evidence[i].dur_ns),
                                DurationText(figures.parts_ns[i]), what));
  }
  return lines;
}

Words SayStartUp(const DeviceStartUpFigures& figures) {
  return {
      .title = fmt::format("{} idle {} of {} before the steady part began", figures.device,
                           DurationText(figures.idle_ns), DurationText(figures.warm_up_ns)),
      .cost_note = "start-up happens once; compilation has findings of its own",
      .advice =
          "Nothing needs to change in long runs. If runs are short, a persistent compilation cache shortens the start.",
      .evidence = {"start-up"}};
}

}  // namespace

Words SayDeviceGap(const Finding& finding, Framework framework) {
  if (const auto* start_up = std::any_cast<DeviceStartUpFigures>(&finding.figures))
    return SayStartUp(*start_up);
  const auto& figures = std::any_cast<const DeviceGapFigures&>(finding.figures);
  const CauseWords cause = OfCause(figures, framework);
  return {.title = Title(finding, figures, cause),
          .why = Why(finding, figures),
          .cost_note = CostNote(figures),
          .advice = Advice(figures, cause),
          .evidence = EvidenceLines(finding, figures),
          .tells_share = true};
}

}  // namespace xlaprof
