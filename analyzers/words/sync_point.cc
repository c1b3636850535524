// The words of sync_point.
#include "analyzers/sync_point.h"

#include <fmt/format.h>

#include <any>
#include <cctype>
#include <string_view>
#include <vector>

#include "analyzers/quantity.h"
#include "analyzers/run/call_stacks.h"
#include "analyzers/words/compilation.h"
#include "analyzers/words/in_terms_of.h"

namespace xlaprof {
namespace {

std::string_view ReadNoun(ReadValue value, Framework framework) {
  switch (value) {
    case ReadValue::kUnknown:
      return "a value";
    case ReadValue::kBoolean:
      return "a Python bool";
    case ReadValue::kNumber:
      return framework == Framework::kCpp ? "a number" : "a Python number";
    case ReadValue::kTensor:
      return "a tensor";
  }
  return "";
}

// Reads before the step mark.

std::string Title(const EarlyReadFigures& figures, const Finding& finding, Framework framework) {
  if (figures.returned)
    return fmt::format("a tensor leaves the device and comes back{} before the step mark{}",
                       figures.shape ? fmt::format(" ({} → {})", figures.shape->text(),
                                                   figures.returned->shape.text())
                                     : "",
                       HowOften(finding.count, finding.per_step));
  if (figures.is_save)
    return fmt::format("tensors are saved before the step mark{}",
                       HowOften(finding.count, finding.per_step));
  const CallFrame* library = LibraryFrameOf(finding.stack.frames);
  return fmt::format(
      "{} is read{}{}{}{}", ReadNoun(figures.value, framework),
      library == nullptr ? "" : " inside " + library->place.function,
      figures.shape ? fmt::format(" ({})", figures.shape->text()) : "",
      framework == Framework::kTorchtpu ? ", which cuts the graph" : " before the step mark",
      HowOften(finding.count, finding.per_step));
}

// Returns what a read does in TorchTPU, which keeps all results.
std::string CutsGraph(const EarlyReadFigures& figures) {
  const std::string graph =
      figures.nodes ? fmt::format("a graph of {} nodes", CountText(*figures.nodes)) : "what waits";
  return fmt::format(
      "Each read runs {}, and the host waits for it. What follows becomes another graph, so the compiler does not see the whole step.",
      graph);
}

std::string Why(const EarlyReadFigures& figures, Framework framework) {
  std::string known;
  if (!figures.value_place.empty())
    known = fmt::format("The value is made at {}, and read there or later. ",
                        figures.value_place.TextWithFunction());
  if (figures.returned)
    known += fmt::format(
        "An input {} enters the graph at {}, so an op there most likely runs on the CPU. ",
        figures.returned->shape.text(), figures.returned->place.ShortText());
  if (figures.decides_size)
    known += fmt::format(
        "The number most likely decides the size of {} at {}, so each new value makes another graph, which has to be compiled. ",
        figures.decides_size->op, figures.decides_size->place.ShortText());
  if (framework == Framework::kTorchtpu) return known + CutsGraph(figures);
  if (!figures.marks_steps)
    return fmt::format(
        "{}Each read evaluates {} early and waits for it. No step mark is seen, so these nodes run again whenever another value needs them.",
        known,
        figures.nodes ? fmt::format("a graph of {} nodes", CountText(*figures.nodes))
                      : "a part of the graph");
  if (!figures.nodes) {
    return known +
           "Each read evaluates a part of the graph early and waits for it. The graph is not cut, so the same nodes run again at the step mark.";
  }
  return fmt::format(
      "{}Each {} evaluates a graph of {} nodes early and waits for it.{}", known,
      figures.is_save ? "save" : "read", CountText(*figures.nodes),
      figures.runs_nothing_again ? "" : " The nodes that the step mark still needs run again.");
}

// Returns which reads cannot be told apart; "" if the line is known.
std::string Indistinct(const EarlyReadFigures& figures, const Finding& finding) {
  if (finding.subject.file || figures.graphs < 2 || !figures.value_place.empty()) return "";
  return fmt::format(
      " They evaluate {} different graphs, so there are several reads here, which this capture cannot tell apart.",
      figures.graphs);
}

std::string CostNote(const EarlyReadFigures& figures, const Finding& finding) {
  const int64_t reads = finding.count.value_or(0);
  if (!finding.cost_ns) return "not measured, because no profile covers these reads";
  const int64_t again_ns = figures.again_ns.value_or(0);
  if (figures.is_estimated)
    return fmt::format(
        "estimated from {} of {} reads that were measured: the host was blocked for {}{}{}",
        CountText(figures.waits_measured), CountText(reads), DurationText(*figures.wait_ns),
        again_ns > 0 ? fmt::format(", and nodes that run again at the step mark took {}",
                                   DurationText(again_ns))
                     : "",
        figures.is_limited
            ? "; the part of these times in which the device did the steps' own work is left out"
            : "");
  const std::string measured =
      figures.waits_measured < reads
          ? fmt::format(", measured for {} of {} reads", CountText(figures.waits_measured),
                        CountText(reads))
          : "";
  if (!figures.wait_ns || (again_ns == 0 && !figures.is_limited))
    return "time that the host was blocked" + measured;
  std::string note =
      fmt::format("the host was blocked for {}{}", DurationText(*figures.wait_ns), measured);
  if (again_ns > 0)
    note +=
        fmt::format(", and nodes that run again at the step mark took {}", DurationText(again_ns));
  if (figures.is_limited)
    note += "; the rest of this is work of the device for which the host would wait anyway";
  return note;
}

std::string_view ReadLaterAdvice(ReadValue value, Framework framework) {
  const bool is_cpp = framework == Framework::kCpp;
  if (framework == Framework::kTorchtpu)
    return value == ReadValue::kTensor
               ? "Read the tensor less often, or keep the computation on the device."
               : "Keep the value on the device: collect it with .detach() and read it every N steps. Use torch.where instead of `if tensor:`.";
  switch (value) {
    case ReadValue::kTensor:
      return is_cpp
                 ? "Read the tensor after the step mark (sync()) or less often, or keep the computation on the device."
                 : "Read the tensor after the step mark (torch_xla.sync()) or less often, or keep the computation on the device.";
    case ReadValue::kUnknown:
    case ReadValue::kBoolean:
    case ReadValue::kNumber:
      return is_cpp
                 ? "Keep the value on the device: collect it with detach() and read it every N steps, after the step mark. Use where(condition, a, b) instead of an if on the value."
                 : "Keep the value on the device: collect it with .detach() and read it every N steps, after the step mark, or pass the read to xm.add_step_closure. Use torch.where instead of `if tensor:`.";
  }
  return "";
}

// Returns the advice for a number that becomes a size.
std::string_view FixedSizeAdvice(Framework framework) {
  return framework == Framework::kCpp
             ? "Do not take a size from the device. Use the largest size that can occur, and mask what is too much with where(condition, a, b)."
             : "Do not take a size from the device. Use the largest size that can occur, and mask what is too much: topk(x, largest) and torch.where(torch.arange(largest, device=x.device) < k, x, 0) instead of topk(x, k), and num_classes=N in F.one_hot.";
}

// Returns the advice for a tensor that is read and comes back.
std::string ReturnedAdvice(const InputsOfLine& returned, Framework framework) {
  return fmt::format(
      "Look for an op without lowering at {}, or for a copy to the CPU. {} Run with XLA_METRICS_FILE=metrics.txt to see its name and how often it runs.",
      returned.place.ShortText(),
      framework == Framework::kCpp
          ? "The size of nonzero depends on values: use where(condition, a, b) on the whole tensor."
          : "A mask used as index, nonzero and unique have a size that depends on values: use torch.where(condition, a, b) on the whole tensor.");
}

std::string Advice(const EarlyReadFigures& figures, const Finding& finding, Framework framework) {
  if (figures.is_fallback)
    return "An op without lowering causes this read, because as many such ops are called as there are lines that cut the graph this often. See the fallback findings.";
  if (figures.is_save)
    return fmt::format(
        "Save after the step mark ({}), which has computed the tensors, or less often.",
        StepMarkCall(framework));
  if (figures.decides_size) return std::string(FixedSizeAdvice(framework));
  if (figures.holds_rounds) return MarkRoundsAdvice(framework);
  if (figures.returned) return ReturnedAdvice(*figures.returned, framework);
  if (const CallFrame* library = LibraryFrameOf(finding.stack.frames))
    return fmt::format(
        "The read is in a library ({}). Look for an option or a version of it that does not read the value, or call it less often.",
        TextInPackage(library->place));
  std::string advice(ReadLaterAdvice(figures.value, framework));
  if (figures.rounds) {
    advice.front() = char(std::tolower(advice.front()));
    advice = fmt::format(
        "If the {} inputs {} of {}:{} are the rounds of a loop, call {} at the end of each round, so that all rounds run the same small graph. Otherwise, {}",
        figures.rounds->count, figures.rounds->shape.text(), figures.rounds->place.basename(),
        figures.rounds->place.line.value_or(0), StepMarkCall(framework), advice);
  }
  if (framework == Framework::kTorchtpu)
    return advice +
           " If nothing is read there, an operation that TorchTPU cannot compile runs on the CPU.";
  if (figures.value == ReadValue::kUnknown)
    advice +=
        " If this line reads no value itself, an op in it runs on the CPU, as nonzero and a mask used as index do: XLA_METRICS_FILE=metrics.txt shows its name.";
  else if (figures.may_be_fallback)
    advice +=
        " If this line calls an op without lowering, that op causes the read, and the fallback finding describes it.";
  return advice;
}

Words Say(const EarlyReadFigures& figures, const Finding& finding, Framework framework) {
  const bool shows_no_line = !finding.subject.file && framework == Framework::kPytorchXla;
  return {.title = Title(figures, finding, framework),
          .why = Why(figures, framework) + Indistinct(figures, finding),
          .cost_note = CostNote(figures, finding),
          .saving_note = !finding.saving_ns ? ""
                         : figures.runs_nothing_again
                             ? "the host no longer waits"
                             : "the host no longer waits, and the nodes run once",
          .advice = Advice(figures, finding, framework),
          .unseen = shows_no_line ? std::optional(Unseen{"the lines"}) : std::nullopt};
}

// Compilations that a read caused.

std::string Title(const CompiledReadFigures& figures) {
  return fmt::format("a value is read before the step mark, and {} compiled for it",
                     Plural(figures.graphs, "graph was", "graphs were"));
}

std::string ReadAfterMarkAdvice(Framework framework) {
  return fmt::format("Read the value after the step mark ({}) and only every N steps.",
                     StepMarkCall(framework));
}

Words Say(const CompiledReadFigures& figures, const Finding&, Framework framework) {
  return {
      .title = Title(figures),
      .why = "The read evaluates a part of the graph early and waits for it.",
      .cost_note =
          "not measured, because a log of compilations does not show how often the value is read",
      .advice = ReadAfterMarkAdvice(framework),
      .unseen = Unseen{"each read"},
      .evidence = {fmt::format("{} compilations", figures.graphs)}};
}

// Reads that a metrics report counts.

std::string WhatIsFetched(const CountedReadFigures& figures, Framework framework) {
  using Counted = CountedReadFigures::Counted;
  switch (figures.counted) {
    case Counted::kCallsAtPlace:
    case Counted::kCalls:
      return fmt::format("{} is read from the device", ReadNoun(figures.value, framework));
    case Counted::kFetches:
      // A transfer does not show whether Python or C++ reads the number.
      return fmt::format("{} is fetched from the device", figures.value == ReadValue::kNumber
                                                              ? "a number"
                                                              : ReadNoun(figures.value, framework));
  }
  return "";
}

std::string Title(const CountedReadFigures& figures, const Finding& finding, Framework framework) {
  std::string title = WhatIsFetched(figures, framework) + HowOften(finding.count, finding.per_step);
  if (!figures.goes_on) return title + ", and not again in the steps that the log covers";
  if (!finding.per_step && figures.executions)
    title += " in " + Plural(*figures.executions, "execution");
  return title;
}

std::string Why(const CountedReadFigures& figures) {
  if (figures.counted == CountedReadFigures::Counted::kCallsAtPlace)
    return "A read waits for everything that was queued before it.";
  return figures.after_marks ? "No graph is cut for these reads, so they come after the step mark."
                             : "Counters do not record the line.";
}

std::string CostNote(const CountedReadFigures& figures, const Finding& finding) {
  if (finding.cost_ns)
    return fmt::format("the sum of {}, which includes waiting for the device",
                       figures.fetch_metric);
  return figures.time_is_shared
             ? "not measured, because transfers of several kinds share one metric"
             : "not measured, because no source has the time of these reads";
}

// Returns advice on calls that fetch values such as those that were transferred.
std::string FetchAdvice(const CountedReadFigures& figures, Framework framework) {
  const bool is_cpp = framework == Framework::kCpp;
  if (figures.value == ReadValue::kNumber && !figures.may_be_fallback) {
    return is_cpp
               ? "Look for item() and print(). Read only every N steps, after the step mark."
               : "Look for .item(), float(tensor), bool(tensor), `if tensor:` and print(loss). Read only every N steps, after the step mark.";
  }
  return fmt::format(
      "{}{}",
      figures.may_be_fallback ? "Ops without lowering may fetch some of these values. " : "",
      is_cpp
          ? "Look for item(), print(), to_cpu() and saving inside the step. Read only every N steps, after the step mark."
          : "Look for .item(), print(tensor), .cpu(), .numpy() and saving inside the step. Read only every N steps, after the step mark.");
}

std::string Advice(const CountedReadFigures& figures, Framework framework) {
  using Counted = CountedReadFigures::Counted;
  const bool is_cpp = framework == Framework::kCpp;
  switch (figures.counted) {
    case Counted::kCallsAtPlace:
      return is_cpp
                 ? "Read the value only every N steps, after the step mark. Use where(condition, a, b) instead of an if on it."
                 : "Read the value only every N steps, after the step mark. Use torch.where instead of `if tensor:`.";
    case Counted::kCalls:
      return is_cpp
                 ? "Look for item(). Read only every N steps, after the step mark."
                 : "Look for .item(), float(tensor), bool(tensor) and `if tensor:`. Read only every N steps, after the step mark.";
    case Counted::kFetches:
      return FetchAdvice(figures, framework);
  }
  return "";
}

std::string EvidenceLine(const CountedReadFigures& figures) {
  std::string line = figures.profiler_line;
  if (line.empty() && figures.read_calls)
    line = fmt::format("counter aten::_local_scalar_dense = {}", *figures.read_calls);
  if (figures.fetches)
    line += fmt::format("{}{} has {} values", line.empty() ? "" : "; ", figures.fetch_metric,
                        *figures.fetches);
  return line;
}

Words Say(const CountedReadFigures& figures, const Finding& finding, Framework framework) {
  using Counted = CountedReadFigures::Counted;
  const bool shows_line = figures.counted == Counted::kCallsAtPlace ||
                          (figures.counted == Counted::kFetches && figures.after_marks);
  return {.title = Title(figures, finding, framework),
          .why = Why(figures),
          .cost_note = CostNote(figures, finding),
          .advice = Advice(figures, framework),
          .unseen = shows_line ? std::nullopt : std::optional(Unseen{"the line"}),
          .evidence = {EvidenceLine(figures)}};
}

// Operations that read, in a program that runs op by op.

// Returns whether JAX's call waits for an array without reading it.
bool OnlyWaits(const Finding& finding) {
  return finding.subject.op.value_or("").ends_with("block_until_ready");
}

std::string Title(const ReadOperationFigures& figures, const Finding& finding) {
  if (figures.of_jax) {
    return fmt::format("{} {}{}", finding.subject.op.value_or(""),
                       OnlyWaits(finding) ? "waits for the device"
                                          : "waits for an array and copies it to the host",
                       HowOften(finding.count, finding.per_step));
  }
  return fmt::format("{} waits for the device to {}{}", finding.subject.op.value_or(""),
                     figures.counts_elements ? "count its elements"
                     : figures.copies        ? "copy a tensor to the host"
                                             : "read a number",
                     HowOften(finding.count, finding.per_step));
}

std::string CostNote(const ReadOperationFigures& figures) {
  if (figures.of_jax)
    return fmt::format(
        "the part of the {} in these calls in which no device works; waiting for a device that works costs nothing",
        DurationText(figures.blocked_ns));
  if (!figures.device_idle_ns) return "time in which copies and waits blocked the step's thread";
  return fmt::format(
      "at most its share of the {} in which the device is idle in the steady steps; copies and waits blocked the step's thread for {}",
      DurationText(*figures.device_idle_ns), DurationText(figures.blocked_ns));
}

std::string Advice(const ReadOperationFigures& figures, const Finding& finding,
                   Framework framework) {
  if (OnlyWaits(finding))
    return "Wait only where the host needs the result: every N steps, or once at the end. block_until_ready waits for all work before its arrays.";
  if (figures.of_jax) {
    return "Read the array every N steps, or one step later: float(x), np.asarray(x), jax.device_get(x), print(x) and x.block_until_ready() wait for all work before x. Use jnp.where or lax.cond instead of an `if` on the value.";
  }
  const bool is_cpp = framework == Framework::kCpp;
  if (figures.counts_elements) {
    return is_cpp
               ? "Use where, or multiply by the mask. A boolean index and nonzero() need the number of elements on the host."
               : "Use torch.where, or multiply by the mask. A boolean index and nonzero() need the number of elements on the host.";
  }
  if (figures.copies)
    return "Keep the tensor on the device. If the host needs it, copy it into pinned memory with non_blocking=True, and wait for the copy (an event) as late as possible.";
  return is_cpp
             ? "Keep the value on the device: collect it with detach() and read it every N steps. Use where instead of `if tensor:`, and pass tensors instead of numbers to the next operation."
             : "Keep the value on the device: collect it with .detach() and read it every N steps. Use torch.where instead of `if tensor:`, and pass tensors instead of numbers to the next operation.";
}

std::vector<std::string> ReadTimes(const Finding& finding) {
  std::vector<std::string> lines;
  for (const Evidence& read : finding.evidence)
    lines.push_back(fmt::format("{} of {}", finding.subject.op.value_or(""),
                                DurationText(read.dur_ns.value_or(0))));
  return lines;
}

Words Say(const ReadOperationFigures& figures, const Finding& finding, Framework framework) {
  return {
      .title = Title(figures, finding),
      .why =
          "The host waits for all work that it launched before. Meanwhile it launches nothing, so the device waits for the host.",
      .cost_note = CostNote(figures),
      .advice = Advice(figures, finding, framework),
      .evidence = ReadTimes(finding)};
}

// Returns the advice for a function that a program calls. The program uses what a pure_callback
// returns.
std::string_view CallbackAdvice(std::string_view op) {
  if (op == "pure_callback")
    return "Write the function with jax.numpy, so that it is a part of the program. If Python has to compute it, call it once for a whole batch: vmap_method=\"broadcast_all\" or \"expand_dims\" instead of \"sequential\", which calls it for each element.";
  return "Return the value from the jitted function and use it on the host every N steps, call back only every N steps (jax.lax.cond), or remove jax.debug.print and jax.debug.callback.";
}

Words Say(const CallbackFigures& figures, const Finding& finding, Framework) {
  return {.title = fmt::format("{} calls Python from the device{}: {:.0f} % of {}'s busy time",
                               finding.subject.op.value_or("a callback"),
                               HowOften(finding.count, finding.per_step), 100 * figures.share,
                               figures.device),
          .why = "The device waits while Python runs, and the host cannot run ahead.",
          .cost_note = "time of the callbacks on the device",
          .saving_note = "the program no longer calls Python",
          .advice = std::string(CallbackAdvice(finding.subject.op.value_or(""))),
          .evidence = {"the longest callback"},
          .tells_share = true};
}

}  // namespace

Words SaySyncPoint(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const SyncPointFigures&>(finding.figures));
}

}  // namespace xlaprof
