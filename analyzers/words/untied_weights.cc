// What a finding of untied_weights says. It is the same for each framework.
#include "analyzers/untied_weights.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string Where(const UntiedWeightsFigures& figures) {
  return figures.device.value_or("the device");
}

std::string Title(const UntiedWeightsFigures& figures, int64_t copies) {
  return fmt::format("{} were one tensor, and are {} since the move to {}", figures.names, copies,
                     Where(figures));
}

std::string Why() {
  return "a move makes each parameter anew, so what was tied before it trains apart after it: this is another model than the one that was written";
}

std::string CostNote(const UntiedWeightsFigures& figures, int64_t copies) {
  return fmt::format(
      "unmeasured in time: {} more on {}, as much again for each state of the optimizer, and a gradient and an update for each copy",
      BytesText(double(figures.bytes) * double(copies - 1)), Where(figures));
}

std::string Advice() {
  return "Move first, then tie: after model.to(device) assign the one weight to the other again, and make the optimizer last.";
}

}  // namespace

Words SayUntiedWeights(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const UntiedWeightsFigures&>(finding.figures);
  const int64_t copies = finding.count.value_or(0);
  return {.title = Title(figures, copies),
          .why = Why(),
          .cost_note = CostNote(figures, copies),
          .advice = Advice()};
}

}  // namespace xlaprof
