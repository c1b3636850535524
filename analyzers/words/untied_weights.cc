// The words of untied_weights, which are the same for each framework.
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
  return fmt::format("{} were one tensor and are {} tensors since the move to {}", figures.names,
                     copies, Where(figures));
}

std::string Why() {
  return "A move makes each parameter again, so weights that were tied before train separately afterwards. The model is no longer the one that was written.";
}

std::string CostNote(const UntiedWeightsFigures& figures, int64_t copies) {
  return fmt::format(
      "not measured in time; it takes {} more memory on {}, as much again for each optimizer state, and a gradient and an update for each copy",
      BytesText(double(figures.bytes) * double(copies - 1)), Where(figures));
}

std::string TieAgainAdvice() {
  return "Move the model first, then tie the weights: after model.to(device), assign one weight to the other again. Make the optimizer last.";
}

}  // namespace

Words SayUntiedWeights(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const UntiedWeightsFigures&>(finding.figures);
  const int64_t copies = finding.count.value_or(0);
  return {.title = Title(figures, copies),
          .why = Why(),
          .cost_note = CostNote(figures, copies),
          .advice = TieAgainAdvice()};
}

}  // namespace xlaprof
