// The words of missing_donation.
#include "analyzers/missing_donation.h"

#include <fmt/format.h>

#include <algorithm>
#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string Joined(const std::vector<std::string>& names, const char* quote) {
  std::string out;
  for (const std::string& name : names)
    out += fmt::format("{}{}{}{}", out.empty() ? "" : ", ", quote, name, quote);
  return out;
}

std::string Program(const MissingDonationFigures& figures) {
  return figures.program.empty() ? "a program" : fmt::format("`{}`", figures.program);
}

std::string DonationTitle(const MissingDonationFigures& figures) {
  std::string inputs = Plural(figures.inputs, "input");
  if (figures.is_replaced && !figures.own_arguments.empty()) {
    inputs += fmt::format(" ({})", Joined(figures.own_arguments, ""));
  } else if (!figures.arguments.empty()) {
    const std::string names = Joined(figures.arguments, "");
    inputs += fmt::format(" ({}{})", names,
                          figures.inputs > int64_t(figures.arguments.size()) ? ", …" : "");
  }
  const std::string each = figures.executions > 0
                               ? fmt::format("each of {}", Plural(figures.executions, "execution"))
                               : "each execution";
  return fmt::format("{} {} {} of {} in {}, because {} not donated", Program(figures),
                     figures.is_replaced ? "needs new memory to replace" : "copies", inputs,
                     BytesText(figures.bytes), each, figures.inputs == 1 ? "it is" : "they are");
}

std::string DonationWhy(const MissingDonationFigures& figures) {
  const bool one = figures.inputs == 1;
  if (figures.is_replaced) {
    return fmt::format(
        "The program returns new values of {} in the same shape ({}{}), and may not overwrite an input that the caller keeps, so old and new values need memory at the same time. That the caller does not need the old values is inferred from the program: the capture does not show where its results go.",
        one ? "this input" : "these inputs", one ? "" : "the largest is ", figures.shape);
  }
  return fmt::format(
      "The program updates {} and returns {} in the same shape ({}{}). XLA may not overwrite an input that the caller keeps, so it copies the whole input first.",
      one ? "this input" : "these inputs", one ? "it" : "them", one ? "" : "the largest is ",
      figures.shape);
}

std::string DonationCost(const MissingDonationFigures& figures) {
  if (figures.is_replaced) {
    return fmt::format(
        "unmeasured: at least {} of memory. How much time is saved cannot be predicted, because no event shows what the first write to new memory takes.",
        BytesText(figures.bytes));
  }
  if (figures.device.empty()) return "unmeasured, because the copies have no times";
  return fmt::format("time in these copies on {}, {} of the time from its first to its last work",
                     figures.device, PercentText(figures.share));
}

std::string DonationSaving(const MissingDonationFigures& figures) {
  if (figures.is_host) return "all of these copies, with the page faults of the memory they fill";
  return "all of these copies; allocating memory for them is saved, too, and not counted here";
}

std::string JaxAdvice(const MissingDonationFigures& figures) {
  constexpr const char* kOnlyIf =
      "Do this only if nothing reads the old values after the call: their memory is gone then.";
  const std::string function = figures.program.empty() ? "f" : figures.program;
  const std::vector<std::string>& names = figures.own_arguments;
  // Arguments of *args and **kwargs have no names of their own.
  const bool named = !names.empty() && std::ranges::none_of(names, [](const std::string& name) {
    return name.empty() || name == "args" || name == "kwargs";
  });
  if (!named) {
    return fmt::format(
        "Donate these inputs: jax.jit({}, donate_argnums=(0,)), with the numbers of the arguments that hold them. {}",
        function, kOnlyIf);
  }
  const std::string list = Joined(names, "\"");
  return fmt::format("Donate {}: jax.jit({}, donate_argnames=({}{})). {}",
                     names.size() == 1 ? "it" : "them", function, list,
                     names.size() == 1 ? "," : "", kOnlyIf);
}

std::string DonationAdvice(const MissingDonationFigures& figures, Framework framework) {
  if (figures.is_jax || framework == Framework::kJax) return JaxAdvice(figures);
  if (framework == Framework::kCpp) {
    return "Let the end of a step compute the values: it donates the memory of tensors that the step overwrites. A read in the middle of a step donates nothing.";
  }
  return "torch_xla donates the tensors that a step overwrites, but only at the step's end (torch_xla.sync()), not for a read in the middle of a step. Do not set XLA_ENABLE_PARAM_ALIASING=0, read values after the step's end, and update tensors in place.";
}

std::vector<std::string> DonationEvidence(const Finding& finding) {
  std::vector<std::string> lines;
  for (const Evidence& evidence : finding.evidence)
    lines.push_back(evidence.dur_ns ? "a copy of " + DurationText(*evidence.dur_ns) : "");
  return lines;
}

}  // namespace

Words SayMissingDonation(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const MissingDonationFigures&>(finding.figures);
  return {.title = DonationTitle(figures),
          .why = DonationWhy(figures),
          .cost_note = DonationCost(figures),
          .saving_note = DonationSaving(figures),
          .advice = DonationAdvice(figures, framework),
          .evidence = DonationEvidence(finding),
          .tells_share = true};
}

}  // namespace xlaprof
