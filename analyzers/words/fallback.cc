// The words of fallback.
#include "analyzers/fallback.h"

#include <fmt/format.h>

#include <any>
#include <array>
#include <string_view>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// Replacements for an op, by its name without namespace and overload. A compiler with static shapes
// cannot lower ops whose result's shape depends on values. So the remedy for these is other code,
// not a request for a lowering.
struct OpAdvice {
  std::string_view op, python;
  std::string_view cpp = {};  // "" if it is the same in C++
};

constexpr auto kAdvice = std::to_array<OpAdvice>({
    {"nonzero",
     "The shape of its result depends on values, and a compiled graph cannot have such shapes. Use torch.where(condition, a, b), or multiply by the mask; count with mask.sum(). If it looks up the index of a value, pass the index as a tensor instead.",
     "The shape of its result depends on values, and a compiled graph cannot have such shapes. Use where(condition, a, b), or multiply by the mask; count with mask.sum(). If it looks up the index of a value, pass the index as a tensor instead."},
    {"masked_select",
     "The shape of its result depends on values. Keep the full shape: torch.where(mask, x, 0), and divide by mask.sum().",
     "The shape of its result depends on values. Keep the full shape: x * mask, and divide by mask.sum()."},
    {"masked_scatter_", "Use torch.where(mask, source, x) with a source of the full shape.",
     "Use where(mask, source, x) with a source of the full shape."},
    {"index", "A boolean mask as index becomes nonzero. Use torch.where with the full shape.",
     "A boolean mask as index becomes nonzero. Use where with the full shape."},
    {"unique",
     "The shape of its result depends on values. Do it in the data loader, or bound the number of values: torch.bincount(x, minlength=N).",
     "The shape of its result depends on values. Do it in the data loader, or bound the number of values: compare with arange(N) and sum."},
    {"_unique2",
     "The shape of its result depends on values. Do it in the data loader, or bound the number of values: torch.bincount(x, minlength=N).",
     "The shape of its result depends on values. Do it in the data loader, or bound the number of values: compare with arange(N) and sum."},
    {"unique_consecutive", "The shape of its result depends on values. Do it in the data loader."},
    {"unique_dim", "The shape of its result depends on values. Do it in the data loader."},
    {"histc",
     "Compute it from ops with lowering: torch.bucketize(x, edges) and torch.nn.functional.one_hot(...).sum(0), or every N steps after the step mark.",
     "Compute it from ops with lowering: bins by arithmetic, and the sum of one_hot, or every N steps after the step mark."},
    {"bincount", "Use torch.nn.functional.one_hot(x, N).sum(0).", "Use one_hot(x, N).sum(0)."},
    {"median", "Use torch.sort(x).values[..., n // 2]; sort has a lowering.",
     "Use sort(x).values[..., n // 2]; sort has a lowering."},
    {"nanmedian", "Use torch.sort on values with NaN replaced.",
     "Use sort on values with NaN replaced."},
    {"repeat_interleave",
     "With a tensor of repeats, the shape of its result depends on values. Use an integer, or torch.gather with indices from the loader.",
     "With a tensor of repeats, the shape of its result depends on values. Use an integer, or gather with indices from the loader."},
    {"_ctc_loss",
     "It has no lowering. Compute the loss on the CPU and accept the cost, or use a CTC loss that is written with torch.logsumexp.",
     "It has no lowering. Compute the loss on the CPU and accept the cost, or use a CTC loss that is written with logsumexp."},
    {"huber_loss",
     "Use delta * torch.nn.functional.smooth_l1_loss(input, target, beta=delta), which is the same and has a lowering."},
    {"multinomial", "Use the Gumbel trick: (logits + gumbel_noise).argmax(-1)."},
    {"bernoulli_", "Use (torch.rand_like(x) < p).", "Use (rand_like(x) < p)."},
    {"nms",
     "The shape of its result depends on values. Use a padded, fixed number of boxes, or run it after the step mark."},
    {"linalg_lstsq", "Use the normal equations with torch.linalg.solve, or QR.",
     "Use the normal equations with linalg.solve, or QR."},
    {"_linalg_eigh",
     "Use torch.linalg.eigh of a version with its lowering, or run it every N steps.",
     "Use linalg.eigh of a version with its lowering, or run it every N steps."},
});

constexpr std::string_view kPrintAdvice =
    "This line prints a tensor, which fetches it and selects its elements on the CPU. Remove the print, or print only every N steps, after the step mark: print(x.detach().cpu()).";
constexpr std::string_view kNoProfile =
    "not measured, because no profile covers the early executions that it causes";

// Returns the op's name without namespace and overload: nonzero for aten::nonzero.out.
std::string_view BareName(std::string_view op) {
  if (const size_t colons = op.find("::"); colons != std::string_view::npos)
    op.remove_prefix(colons + 2);
  return op.substr(0, op.find('.'));
}

std::string InsteadOf(const std::string& op, Framework framework) {
  const bool is_cpp = framework == Framework::kCpp;
  if (framework == Framework::kGaudi)
    return fmt::format(
        "Gaudi ran {} on the CPU. Write it with ops that run on the device, or move it out of the step. If PT_HPU_PLACE_ON_CPU names it, remove it there.",
        op);
  const std::string forward = ForwardOpOf(op);
  for (const OpAdvice& advice : kAdvice) {
    if (advice.op == BareName(forward.empty() ? op : forward))
      return std::string(is_cpp && !advice.cpp.empty() ? advice.cpp : advice.python);
  }
  if (is_cpp)
    return fmt::format(
        "{} has no lowering. Write it with operations that have one, or move it out of the step.",
        op);
  return fmt::format(
      "{} has no lowering in this version of torch_xla. Write it with ops that have one, move it out of the step, or ask for the lowering in the torch_xla issue tracker.",
      op);
}

std::string OpOf(const Finding& finding) { return finding.subject.op.value_or(""); }

// An op without lowering.

std::string ForcedText(const FallbackOpFigures::Cut& cut) {
  return fmt::format(" It forced {}{}, and the host waited for each{}.{}",
                     Plural(cut.count, "early execution"),
                     cut.executions < cut.count
                         ? fmt::format(", of which the profile shows {}", CountText(cut.executions))
                         : "",
                     cut.shape ? fmt::format(" (input {})", cut.shape->text()) : "",
                     cut.is_likely ? " The line is the only one that fetches a tensor." : "");
}

std::string CandidatesText(const FallbackOpFigures& figures) {
  std::string places;
  for (const Subject& candidate : figures.candidates) {
    if (candidate.line) {
      places += " " + candidate.place().text();
    } else if (candidate.scope) {
      places += fmt::format(" scope {}", *candidate.scope);
    }
  }
  if (places.empty()) return "";
  if (figures.more_candidates > 0)
    places += fmt::format(" and {} more", CountText(figures.more_candidates));
  return " Its line is one of:" + places + ".";
}

std::string CallSitesText(const std::vector<SourcePlace>& call_sites) {
  if (call_sites.size() < 2) return "";
  std::string places;
  for (const SourcePlace& place : call_sites)
    places += (places.empty() ? " " : ", ") + place.text();
  return " It is called at" + places + ".";
}

std::string Why(const FallbackOpFigures& figures) {
  return fmt::format(
      "{}Each call fetches the inputs, runs on the CPU and sends the result back.{}{}",
      figures.is_printed ? "Torch calls it to print a tensor. " : "",
      figures.cut ? ForcedText(*figures.cut) : CandidatesText(figures),
      CallSitesText(figures.call_sites));
}

std::string CostNote(const FallbackOpFigures& figures, const Finding& finding) {
  using Cost = FallbackOpFigures::Cost;
  switch (figures.cost) {
    case Cost::kUnmeasured:
      return std::string(kNoProfile);
    case Cost::kWaits:
      return fmt::format(
          "time that early executions blocked the host{}, and time of the nodes that run again",
          figures.cut && figures.measured < figures.cut->count
              ? fmt::format(" (measured for {} of {})", CountText(figures.measured),
                            CountText(figures.cut->count))
              : "");
    case Cost::kEstimatedWaits:
      return fmt::format(
          "estimated from {} of {} executions that were measured: time that they blocked the host, and time of the nodes that run again",
          CountText(figures.measured), CountText(figures.cut ? figures.cut->count : 0));
    case Cost::kTransfers:
      return fmt::format("{} of its inputs and results; no source times the op itself",
                         Plural(figures.measured, "transfer"));
    case Cost::kShareOfMetrics:
      return fmt::format(
          "its part of the {}{} that {} {} took, divided by calls",
          figures.has_reads ? "at least " : "", DurationText(figures.measured_ns),
          Plural(figures.measured, "copy", "copies"),
          figures.copied_calls > *finding.count ? "of all such ops" : "of its inputs and results");
  }
  return "";
}

std::string Advice(const FallbackOpFigures& figures, const Finding& finding, Framework framework) {
  std::string advice =
      figures.is_printed ? std::string(kPrintAdvice) : InsteadOf(OpOf(finding), framework);
  const std::string forward = ForwardOpOf(OpOf(finding));
  if (!finding.subject.file && !forward.empty())
    advice += fmt::format(
        " No source can name its line, because PyTorch computes gradients on a thread of its own. It is the gradient of {}.",
        forward);
  return advice;
}

// Returns whether a log would show the line of the op, which nothing does so far.
bool LogShowsLine(const FallbackOpFigures& figures, const Finding& finding, Framework framework) {
  return !finding.subject.file && !figures.has_log && framework != Framework::kGaudi &&
         ForwardOpOf(OpOf(finding)).empty();
}

// Returns the lines of evidence. Executions of the cut come first and need no text.
std::vector<std::string> EvidenceLines(const FallbackOpFigures& figures, const Finding& finding) {
  std::vector<std::string> lines;
  if (figures.cut) lines.emplace_back();
  lines.push_back(finding.count ? fmt::format("{} = {}", OpOf(finding), *finding.count)
                                : fmt::format("named by torch_xla: {}", OpOf(finding)));
  return lines;
}

Words Say(const FallbackOpFigures& figures, const Finding& finding, Framework framework) {
  return {
      .title = fmt::format("{} runs on the CPU{}", OpOf(finding),
                           HowOften(finding.count, finding.per_step)),
      .why = Why(figures),
      .cost_note = CostNote(figures, finding),
      .saving_note = finding.saving_ns ? "the op runs on the device, in the step's own graph" : "",
      .advice = Advice(figures, finding, framework),
      .unseen = LogShowsLine(figures, finding, framework) ? std::optional(Unseen{"the line"})
                                                          : std::nullopt,
      .evidence = EvidenceLines(figures, finding)};
}

// Calls of ops that torch_xla does not name.

std::string Why(const UnnamedCallsFigures& figures) {
  std::string why =
      "torch_xla counts the calls of this line but does not name the op. It is an op without lowering or a read of a number, and each call waits for the device.";
  if (figures.is_printed) why += " Torch calls it to print a tensor.";
  std::vector<std::string> possible = figures.possible_ops;
  if (figures.may_be_read) possible.push_back("a read of a number");
  if (!possible.empty()) why += fmt::format(" It may be one of: {}.", fmt::join(possible, ", "));
  return why;
}

std::string Advice(const UnnamedCallsFigures& figures, Framework framework) {
  if (figures.is_printed) return std::string(kPrintAdvice);
  return framework == Framework::kCpp
             ? "Look on this line for .item(), float() or bool() of a tensor, print(tensor) and .cpu(), and read only every N steps, after the step mark. The counters aten::… of metrics_report() name an op without lowering."
             : "Look on this line for .item(), float() or bool() of a tensor, print(tensor) and .cpu(), and read only every N steps, after the step mark. The counters aten::… of torch_xla.debug.metrics.metrics_report() name an op without lowering.";
}

Words Say(const UnnamedCallsFigures& figures, const Finding& finding, Framework framework) {
  return {.title =
              "ops run on the CPU, or numbers are read" + HowOften(finding.count, finding.per_step),
          .why = Why(figures),
          .cost_note = std::string(kNoProfile),
          .advice = Advice(figures, framework),
          .evidence = {
              fmt::format("{} = {}", finding.subject.place().text(), finding.count.value_or(0))}};
}

// A program without a device.

Words Say(const WholeProgramFigures& figures, const Finding&, Framework) {
  return {
      .title = "the whole program runs on the CPU: it found no GPU or TPU that it can use",
      .why = "The program printed this when it started.",
      .cost_note = "not measured, because no source shows the program on a device",
      .advice =
          "Install the build for the device (jax[cuda12], jax[tpu], torch_xla[tpu]). Set JAX_PLATFORMS or PJRT_DEVICE, so that a missing device becomes an error.",
      .evidence = {figures.printed_at.text()}};
}

}  // namespace

Words SayFallback(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const FallbackFigures&>(finding.figures));
}

}  // namespace xlaprof
