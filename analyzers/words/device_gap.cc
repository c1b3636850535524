#include "analyzers/device_gap.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/quantity.h"
#include "analyzers/run/host_calls.h"
#include "analyzers/words/in_terms_of.h"
#include "analyzers/words/slow_settings.h"

namespace xlaprof {
namespace {

// Words for what happened while the device was idle, and the advice.
struct CauseWords {
  std::string meanwhile;  // continues "idle while "
  std::string advice;
};

// Returns the scope or step in quotes, or the function with its place.
std::string CodeText(const DeviceGapFigures& figures) {
  return figures.named_by == NamedBy::kFunction ? figures.scope
                                                : fmt::format("'{}'", figures.scope);
}

// Returns the scopes in which the host did it: " in 25 scopes, most in 'layer 0'".
std::string InScopes(const DeviceGapFigures& figures) {
  const bool is_step = figures.named_by == NamedBy::kStep;
  const bool is_function = figures.named_by == NamedBy::kFunction;
  if (is_step && figures.scopes <= 1) return "";  // a step is no scope
  std::string in;
  if (figures.scopes > 1)
    in = fmt::format(" in {} {}", figures.scopes, is_function ? "functions" : "scopes");
  if (!figures.scope.empty())
    in += fmt::format("{} in {}", figures.scopes > 1 ? ", most" : "", CodeText(figures));
  return in;
}

// Returns how a scope is put around code.
std::string_view ScopeCall(Framework framework) {
  constexpr InTermsOf kCall{.pytorch = "torch.profiler.record_function",
                            .pytorch_xla = "torch_xla.debug.profiler.Trace",
                            .jax = "jax.profiler.TraceAnnotation",
                            .cpp = "Trace or XLAPROF_TRACE",
                            .otherwise = "the profiler's annotations"};
  return kCall.Of(framework);
}

// Returns how many small launches become one: a compiler, and CUDA graphs where there are any.
std::string_view FuseCalls(const DeviceGapFigures& figures, Framework framework) {
  const InTermsOf calls{
      .pytorch =
          figures.has_old_torch
              ? "use larger batches, or a newer PyTorch, which compiles the step (torch.compile)"
          : figures.runs_compiled_functions
              ? "let the compiled functions replay their launches (torch.compile(mode='reduce-overhead')), or use larger batches"
              : "compile the step (torch.compile) or replay it (CUDA graphs)",
      .pytorch_xla = "compile the step as one graph (torch_xla.compile)",
      .jax = "compile the calls as one function (jax.jit)",
      .otherwise = "fuse the calls, or replay them as one (CUDA graphs)"};
  return calls.Of(framework);
}

// Returns what to write instead if PyTorch itself made the scope; "" for a user's scope.
std::string_view AdviceForPytorchScope(std::string_view scope, Framework framework) {
  if (framework != Framework::kPytorch) return "";
  if (scope.starts_with("Optimizer.zero_grad"))
    return "Call optimizer.zero_grad(set_to_none=True), the default since PyTorch 2.0, which launches nothing.";
  if (scope.starts_with("Optimizer.step"))
    return "Let the optimizer update all parameters at once: pass fused=True or foreach=True to its constructor.";
  if (scope.starts_with("DistributedDataParallel.forward"))
    return "DistributedDataParallel broadcasts the module's buffers before each forward pass. If the ranks need not share them, construct it with broadcast_buffers=False.";
  if (scope.find("CompiledFxGraph") != scope.npos || scope.starts_with("Torch-Compiled Region"))
    return "This code is compiled already. Let it replay its launches: torch.compile(mode='reduce-overhead').";
  return "";
}

// Returns what prepares batches while the step runs.
std::string_view LoaderWorkers(Framework framework) {
  constexpr InTermsOf kWorkers{.pytorch = "the workers of a DataLoader (num_workers)",
                               .tensorflow = "tf.data (prefetch)",
                               .otherwise = "other threads or processes"};
  return kWorkers.Of(framework);
}

// Returns how work becomes a part of the step's program; "" if the framework is not known.
std::string_view CompiledHere(Framework framework) {
  constexpr InTermsOf kHere{.pytorch = " (with tensors of the device)",
                            .jax = " (with jax.numpy, inside the jitted step)"};
  return kHere.Of(framework);
}

CauseWords OfUserCode(const DeviceGapFigures& figures, Framework framework) {
  CauseWords words;
  if (figures.scopes > 1)
    words.meanwhile = "the host was" + InScopes(figures);
  else if (figures.named_by == NamedBy::kStep)
    words.meanwhile =
        fmt::format("the host ran code of step '{}' outside any scope", figures.scope);
  else if (figures.named_by == NamedBy::kFunction)
    words.meanwhile = fmt::format("the host ran {}", figures.scope);
  else
    words.meanwhile = fmt::format("the host was in scope '{}'", figures.scope);

  if (figures.named_by == NamedBy::kFunction)
    words.advice = fmt::format(
        "Nothing is launched meanwhile. If this prepares batches, prepare them ahead in {}. Otherwise do it on the device{}, or less often.",
        LoaderWorkers(framework), CompiledHere(framework));
  else if (figures.named_by == NamedBy::kScope)
    words.advice =
        "Move this work off the step's thread (to a worker thread or a later step), or do it on the device. If it needs a result, start it on a copy of the last step's result, so that the device has work meanwhile.";
  else
    words.advice = fmt::format(
        "Put scopes ({}) around the parts of the step to see which one keeps the device waiting, and move that work off the step's thread.",
        ScopeCall(framework));
  return words;
}

// Returns the call that took most of the longest gap, or "" if none did.
std::string MainCall(const DeviceGapFigures& figures) {
  return figures.calls.empty() ? "" : figures.calls.front();
}

// Returns the words for a time in which nothing was recorded.
CauseWords OfNothing(const DeviceGapFigures& figures, Framework framework) {
  // A thread that gives no work to devices may have an event that says what the program waits for.
  const std::string call = MainCall(figures);
  if (figures.recurs() && figures.uploads && figures.uploads->are_of_fallbacks)
    return {fmt::format(
                "ops without lowering ran on the CPU, whose results were then uploaded (up to {})",
                BytesText(figures.uploads->usual_bytes)),
            "See the findings about ops without lowering."};
  if (figures.recurs() && figures.uploads && figures.follows_fetch())
    return {
        fmt::format(
            "the host worked after a fetch from the device and before it uploaded the next tensors (up to {})",
            BytesText(figures.uploads->usual_bytes)),
        fmt::format(
            "{}If the host works with what it fetched (metrics, checkpoints, a part of the step), do that less often, in another thread or on the device. If it prepares batches, prepare them ahead in {}.",
            figures.line_before.empty()
                ? ""
                : fmt::format(
                      "Look at what follows {}, which cut the graph before the longest gap. ",
                      figures.line_before.ShortText()),
            LoaderWorkers(framework))};
  if (figures.recurs() && figures.uploads && figures.uploads->is_batch)
    return {
        fmt::format("the host made the next batch, which it then uploaded (tensors of up to {})",
                    BytesText(figures.uploads->usual_bytes)),
        fmt::format("Prepare batches ahead in {}, or make their parts once and keep them.",
                    LoaderWorkers(framework))};
  if (figures.recurs() && figures.uploads)
    return {
        fmt::format("the host prepared what it then uploaded ({:.3g} {} of {} a step)",
                    figures.uploads->per_step,
                    figures.uploads->per_step == 1 ? "tensor" : "tensors",
                    BytesText(figures.uploads->usual_bytes)),
        fmt::format(
            "Make this data on the device, or upload it once before the loop. If it is batches, prepare them ahead in {}.",
            LoaderWorkers(framework))};
  if (!figures.host_recorded && !(figures.event_before.empty() && figures.event_after.empty()))
    return {"the host's threads were recorded, but not which of them starts its work",
            "To see what these threads did in the gaps, open the timeline with `xlaprof view`."};
  if (!figures.host_recorded)
    return {"the host was not recorded",
            "Record the host as well (host_tracer_level 2) to see what it did."};
  std::string advice =
      fmt::format("To see what the host did, put scopes ({}) around its work between the steps",
                  ScopeCall(framework));
  if (framework == Framework::kJax)
    advice += ", or record with python_tracer_level=1";
  else if (framework == Framework::kPytorch)
    advice += ", or record with with_stack=True";
  return {call.empty() ? "no thread of the host recorded anything"
                       : fmt::format("the host recorded only '{}'", call),
          advice + "."};
}

std::string_view TracingAdvice(Framework framework) {
  constexpr InTermsOf kAdvice{
      .pytorch_xla =
          "Tracing cannot keep up with the device. Trace the model once (torch.compile with backend='openxla'), use torch_xla's scan for repeated layers, or give the device more work per step.",
      .jax =
          "Tracing cannot keep up with the device. Trace the step once (jax.jit), use jax.lax.scan for repeated layers, or give the device more work per step.",
      .otherwise = "Tracing cannot keep up with the device. Give the device more work per step."};
  return kAdvice.Of(framework);
}

std::string_view AllocatorAdvice(Framework framework) {
  if (framework == Framework::kPytorch)
    return "Each step gets device memory from the driver or returns it, which waits for the device. Keep PyTorch's caching allocator on (unset PYTORCH_NO_CUDA_MEMORY_CACHING), do not call torch.cuda.empty_cache() in the step, and let the largest batch come first.";
  return "Each step gets device memory from the driver or returns it, which waits for the device. Keep the memory in a pool that outlives the step.";
}

// Returns the advice for time in the framework's own code.
std::string RuntimeAdvice(const DeviceGapFigures& figures, Framework framework) {
  const std::string call = MainCall(figures);
  if (figures.longest_share < policy::kTellingShareOfGaps) {
    const std::string_view special = AdviceForPytorchScope(figures.scope, framework);
    return fmt::format(
        "The host starts many small operations, and no single one takes most of these gaps. {}",
        special.empty() ? fmt::format("To launch less, {}.", FuseCalls(figures, framework))
                        : special);
  }
  if (call.empty())
    return "No single call takes most of these gaps. Put scopes around the parts of this code to see which one keeps the device waiting.";
  if (call.find("Synchronize") != call.npos)
    return fmt::format(
        "In the longest gap, the host is in '{}', which waits until the device has no work left. Remove that wait, or launch the next work before it.",
        call);
  return fmt::format(
      "In the longest gap, the host is in '{}'. Call it less often, or outside the step.", call);
}

// Returns the words for a host that starts small executions one after the other.
CauseWords OfSmallExecutions(const SmallExecutions& small, Framework framework) {
  CauseWords words{fmt::format("the host started {} small executions{} ({} of work each)",
                               CountText(small.count),
                               small.function.empty() ? "" : " in " + FunctionText(small.function),
                               DurationText(small.mean_ns)),
                   "Starting them takes longer than running them. Merge them into one per step."};
  if (framework == Framework::kJax)
    words.advice +=
        " Put the Python loop that calls them into one jitted function: with jax.vmap if its rounds are independent, or else with jax.lax.scan.";
  return words;
}

// Returns the words for work that no event names.
CauseWords OfWork(const WorkBetweenLines& work, Framework framework) {
  return {
      fmt::format("the host worked between {} and {}", work.before.ShortText(),
                  work.after.ShortText()),
      fmt::format(
          "Nothing is launched meanwhile. If this work needs no result of the step, move it to another thread. Otherwise do it on the device{}, or less often.",
          CompiledHere(framework))};
}

// Returns the words for what only sampled stacks show.
CauseWords OfSampled(const DeviceGapFigures& figures, Framework framework) {
  const SampledHost& sampled = *figures.sampled;
  const auto in_samples = [&](std::string_view what) {
    return fmt::format("{} in {} of {} samples of its stack", what, sampled.samples,
                       sampled.examined);
  };
  switch (sampled.doing) {
    case Doing::kTracing:
      return {in_samples("the host recorded operations or cut the graph"),
              std::string(TracingAdvice(framework))};
    case Doing::kRuntime:
      return {in_samples("the host was in the framework's code"),
              RuntimeAdvice(figures, framework)};
    case Doing::kInput:
      return {in_samples("the host loaded data in " + FunctionText(sampled.place)),
              fmt::format("Load ahead in {}.", LoaderWorkers(framework))};
    default:
      return {
          in_samples("the host was in " + FunctionText(sampled.place)),
          fmt::format(
              "If this prepares batches, prepare them ahead in {}. Otherwise do it on the device{}, in another thread, or less often.",
              LoaderWorkers(framework), CompiledHere(framework))};
  }
}

// Returns the words for what the host did.
CauseWords OfDoing(const DeviceGapFigures& figures, Framework framework) {
  if (figures.sampled && (figures.recurs() || !figures.sampled->is_of_function()))
    return OfSampled(figures, framework);
  if (figures.recurs() && figures.work) return OfWork(*figures.work, framework);
  switch (figures.doing) {
    case Doing::kNothing:
      return OfNothing(figures, framework);
    case Doing::kUserCode:
      return OfUserCode(figures, framework);
    case Doing::kRuntime:
      return {"the host was in the framework's code" + InScopes(figures),
              RuntimeAdvice(figures, framework)};
    case Doing::kTracing:
      return {"the host traced and prepared graphs" + InScopes(figures),
              std::string(TracingAdvice(framework))};
    case Doing::kExecute:
      if (figures.small_executions) return OfSmallExecutions(*figures.small_executions, framework);
      return {"the host launched work" + InScopes(figures),
              "Launching takes longer than running. Merge small executions into one per step."};
    case Doing::kInput:
      return {"the host waited for data" + InScopes(figures),
              "Load ahead with more workers or a deeper prefetch."};
    case Doing::kTransfer:
      return {
          "the host copied between host and device" + InScopes(figures),
          "Copy less often, less at a time, or asynchronously. Keep values on the device if the host reads them only rarely."};
    case Doing::kAllocate:
      return {"the host was in the driver's allocator" + InScopes(figures),
              std::string(AllocatorAdvice(framework))};
    case Doing::kCapture:
      return {
          "the host captured a CUDA graph" + InScopes(figures),
          "Nothing needs to change. A capture runs nothing on the device, and each graph is captured once."};
    case Doing::kCompile:
      return {"the host compiled" + InScopes(figures), "See the findings about compiling."};
  }
  return {};
}

// Returns the advice if the host only launches too late.
std::string LateLaunchAdvice(const DeviceGapFigures& figures, Framework framework) {
  if (const std::string call = MainCall(figures);
      figures.is_one_gap() && !call.empty() && !figures.main_call_launches)
    return fmt::format(
        "Most of it is '{}'. Move that work off the step's thread (to the workers of a DataLoader or a thread of its own), or do it on the device.",
        call);
  if (!figures.launches_in_scope || !figures.launches_in_gaps)
    return "Nothing is launched meanwhile, so the host does other work. Move that work off the step's thread (to the workers of a DataLoader or a thread of its own), or do it on the device.";
  if (const std::string_view special = AdviceForPytorchScope(figures.scope, framework);
      !special.empty())
    return std::string(special);
  std::string advice =
      fmt::format("The host launches work too late for the device. To launch less, {}.",
                  FuseCalls(figures, framework));
  if (figures.doing != Doing::kUserCode || figures.named_by == NamedBy::kStep)
    advice += fmt::format(" Scopes ({}) around the parts of the step show which one is late.",
                          ScopeCall(framework));
  return advice;
}

CauseWords OfLateHost(const DeviceGapFigures& figures, Framework framework) {
  CauseWords words = OfDoing(figures, framework);
  words.meanwhile += " (the host was late)";
  switch (figures.doing) {
    case Doing::kInput:
    case Doing::kTransfer:
    case Doing::kAllocate:
    case Doing::kCapture:
    case Doing::kCompile:
      break;  // The host itself is slow here, so the advice for its activity applies.
    case Doing::kNothing:
      if (!figures.recurs()) break;  // Nobody knows what it did.
      [[fallthrough]];
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
  switch (figures.wait) {
    case GapWait::kUnknown:
      return OfDoing(figures, framework);
    case GapWait::kHostWait:
      return OfLateHost(figures, framework);
    case GapWait::kLaunch:
      return {"the call that launches the next kernel was running",
              fmt::format("Launching takes longer than the kernels run. To launch less, {}.",
                          FuseCalls(figures, framework))};
    case GapWait::kKernelWait:
      return {
          "the next kernel was already launched and waited",
          fmt::format(
              "The host is ahead, and kernels wait for each other. If the gaps are many and short, {}. If they are few and long, look at the other streams, copies and events that the kernels wait for.",
              FuseCalls(figures, framework))};
    case GapWait::kUnrecorded:
      return {
          "the next kernel was already launched, and nothing recorded shows what it waited for",
          "Record all streams, devices and processes that this work depends on, and the whole step. Copies and kernels that end a gap show what it waited for."};
  }
  return {};
}

// Returns "of the 2 s of steady steps".
std::string ShareOfText(const DeviceGapFigures& figures) {
  const std::string length = DurationText(figures.share_of_ns);
  switch (figures.share_of) {
    case IdleShareOf::kSteadySteps:
      return fmt::format("of the {} of steady steps", length);
    case IdleShareOf::kStepsWithoutCompiles:
      return fmt::format("of the {} of steps that do not compile", length);
    case IdleShareOf::kExecutions:
      return fmt::format("of the {} from its first to its last execution", length);
  }
  return "";
}

std::string Title(const Finding& finding, const DeviceGapFigures& figures,
                  const CauseWords& cause) {
  const bool once = figures.verdict == DeviceGapVerdict::kOnce;
  const bool is_mostly = figures.main_share < policy::kMostlyShare;
  return fmt::format("{} idle {} ({:.1f} % {}) in {}{}{}while {}", figures.device,
                     DurationText(*finding.cost_ns), 100 * figures.share, ShareOfText(figures),
                     Plural(*finding.count, "gap"),
                     !once                 ? ""
                     : *finding.count == 1 ? " that does not recur"
                                           : " that do not recur",
                     is_mostly ? ", mostly "
                     : once    ? ", "
                               : " ",
                     cause.meanwhile);
}

std::string SlowedBy(const std::string& what) {
  return fmt::format(
      "The capture's own settings slow this down: {}. The idle time may disappear without them.",
      what);
}

// Returns what the host did before it left the device idle, if that is known.
std::string AfterFetch(const DeviceGapFigures& figures) {
  const FetchesBeforeGaps& fetches = figures.fetches;
  if (figures.uploads || !figures.follows_fetch()) return "";
  const int64_t longest = int64_t(figures.parts_ns.size());
  return fmt::format(
      "Before {} {}, the host fetched data from the device{}.",
      fetches.gaps == longest ? "each of the" : fmt::format("{} of the", fetches.gaps),
      Plural(longest, "longest gap"), fetches.name.empty() ? "" : " (" + fetches.name + ")");
}

// Returns what a smaller part of the samples shows.
std::string Beside(const DeviceGapFigures& figures) {
  if (!figures.sampled_beside) return "";
  return fmt::format("{}In {} of the samples, the host was in {}.",
                     AfterFetch(figures).empty() ? "" : " ", figures.sampled_beside->samples,
                     FunctionText(figures.sampled_beside->place));
}

// Returns whether an event of the host copies data to a device, as PyTorch/XLA, PJRT and CUDA name
// it.
bool IsUpload(std::string_view event) {
  static constexpr std::string_view kUploads[] = {"TransferToDevice", "TransferToServer",
                                                  "BufferFromHost", "CopyToDevice", "HtoD"};
  return std::ranges::any_of(kUploads, [&](auto part) { return event.find(part) != event.npos; });
}

// Returns the events and lines between which nothing was recorded.
std::string Between(const DeviceGapFigures& figures) {
  const auto side = [](const std::string& event, const SourcePlace& line) {
    std::string text = event.empty() ? "" : fmt::format("'{}'", event);
    if (!line.empty()) text += fmt::format("{}{}", text.empty() ? "" : ", line ", line.text());
    return text;
  };
  const std::string before = side(figures.event_before, figures.line_before);
  const std::string after = side(figures.event_after, figures.line_after);
  std::string text = "Nothing says what the host did.";
  if (!before.empty()) text += fmt::format(" The last event before the longest gap is {}.", before);
  if (!after.empty()) text += fmt::format(" The first event after it is {}.", after);
  if (IsUpload(figures.event_after))
    text += " It uploads data, so the host may have prepared the next batch.";
  return text;
}

// Returns which inputs of the graph are uploaded.
std::string InputsText(const InputsOfLine& inputs) {
  return fmt::format("The graph has {} of this size, {}, used at {}.",
                     Plural(inputs.count, "input"), inputs.shape.text(), inputs.place.text());
}

// Returns why a pattern is one, as far as the title does not say it.
std::string WhyPattern(const DeviceGapFigures& figures) {
  if (figures.uploads && figures.uploads->inputs) return InputsText(*figures.uploads->inputs);
  if (figures.work)
    return fmt::format(
        "{} starts the last execution before these gaps, and {} the first after them. Tracing the run's largest graph takes less time than the host spends between these lines.",
        figures.work->before.text(), figures.work->after.text());
  return figures.is_only_step ? "Only one step was traced, so nothing shows whether this recurs."
                              : AfterFetch(figures) + Beside(figures);
}

// What a verdict adds to the title, and the advice if it is not that for the cause.
struct GapVerdictWords {
  std::string why;
  std::string_view advice = {};
};

GapVerdictWords OfVerdict(const DeviceGapFigures& figures) {
  constexpr std::string_view kRecordAgain =
      "Record again without these settings before you act on this finding.";
  const std::string slow_settings = SlowSettingsText(figures.settings);
  switch (figures.verdict) {
    case DeviceGapVerdict::kPattern:
      return {WhyPattern(figures)};
    case DeviceGapVerdict::kCapturesGraph:
      return {};
    case DeviceGapVerdict::kUnrecorded:
      return {
          "No stream of this device ran anything meanwhile, so a part of the work is missing from the file."};
    case DeviceGapVerdict::kTooShort:
      return {"The capture has no steps and is too short to show whether this recurs.",
              "Mark the steps, and trace for longer."};
    case DeviceGapVerdict::kOnce:
      return {
          figures.doing == Doing::kNothing && figures.wait != GapWait::kLaunch &&
                  figures.wait != GapWait::kKernelWait
              ? Between(figures)
              : "Without these gaps, little of this idle time is left.",
          "Nothing needs to change in long runs. If the start of the run matters, look at the calls below."};
    case DeviceGapVerdict::kUnseen:
      return {Between(figures)};
    case DeviceGapVerdict::kUnnamed:
      if (figures.sampled) return {};
      return {
          figures.doing == Doing::kExecute
              ? "A CPU runs programs on the host's own threads, so launching them is part of running them."
              : "No scope or line says what the host did."};
    case DeviceGapVerdict::kPricedElsewhere:
      return {"The device is idle because of this, and the finding about it has the cost."};
    case DeviceGapVerdict::kPythonTracer:
      return {SlowedBy("the Python tracer"), kRecordAgain};
    case DeviceGapVerdict::kSlowTracing:
      return {SlowedBy(slow_settings), kRecordAgain};
    case DeviceGapVerdict::kMaySlowTracing:
      return {
          "A Chrome trace does not show whether XLA_IR_DEBUG or XLA_HLO_DEBUG was on, which slow down tracing.",
          "Report on the profile's .xplane.pb, which shows these settings."};
    case DeviceGapVerdict::kScopeTraces:
      return {SlowedBy(fmt::format("{}; '{}' traces ops", slow_settings, figures.scope)),
              kRecordAgain};
    case DeviceGapVerdict::kScopeReads:
      return {SlowedBy(fmt::format("{}; '{}' reads values", slow_settings, figures.scope)),
              kRecordAgain};
  }
  return {};
}

std::string CostNote(const DeviceGapFigures& figures) {
  std::string note = fmt::format("idle time of {}{}{}.", figures.device,
                                 figures.chances_are_steps
                                     ? fmt::format(" in {}", Plural(figures.chances, "steady step"))
                                     : "",
                                 figures.from_ops ? ", measured between its ops" : "");
  if (const std::optional<IdleOfDevices>& all = figures.all_devices) {
    note += fmt::format(" The {} devices idle {:.1f} to {:.1f} %; {} idles most.", all->devices,
                        100 * all->least_share, 100 * all->most_share, figures.device);
  }
  return note;
}

// Returns what took the part of a gap that counts, in one or two words.
std::string_view PartText(const DeviceGapFigures& figures) {
  switch (figures.wait) {
    case GapWait::kLaunch:
      return "launching";
    case GapWait::kKernelWait:
      return "waiting in a queue";
    case GapWait::kUnrecorded:
      return "waiting for unrecorded work";
    case GapWait::kUnknown:
    case GapWait::kHostWait:
      break;
  }
  return TextsOf(figures.doing).text;
}

std::vector<std::string> EvidenceLines(const Finding& finding, const DeviceGapFigures& figures) {
  const std::string_view what = PartText(figures);
  std::vector<std::string> lines;
  for (size_t i = 0; i < figures.parts_ns.size(); ++i) {
    std::string line =
        fmt::format("gap of {}, {} of it {}", DurationText(*finding.evidence[i].dur_ns),
                    DurationText(figures.parts_ns[i]), what);
    if (!figures.calls[i].empty()) line += fmt::format(", mostly in '{}'", figures.calls[i]);
    lines.push_back(std::move(line));
  }
  return lines;
}

Words SayStartUp(const DeviceStartUpFigures& figures) {
  return {
      .title = fmt::format("{} was idle for {} of the {} before the steady part", figures.device,
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
  CauseWords cause = OfCause(figures, framework);
  const GapVerdictWords verdict = OfVerdict(figures);
  return {
      .title = Title(finding, figures, cause),
      .why = verdict.why,
      .cost_note = CostNote(figures),
      .saving_note = !finding.saving_ns ? ""
                     : figures.small_executions
                         ? "the device works instead of waiting, without what a Python tracer adds"
                     : *finding.saving_ns < *finding.cost_ns
                         ? "the part of these gaps in which the host did this"
                         : "the device works instead of waiting",
      .advice = verdict.advice.empty() ? std::move(cause.advice) : std::string(verdict.advice),
      .evidence = EvidenceLines(finding, figures),
      .tells_share = true,
      .is_open_question = figures.verdict == DeviceGapVerdict::kUnseen &&
                          figures.share >= policy::kUnnamedIdleShare};
}

}  // namespace xlaprof
