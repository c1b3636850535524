// The words of recompilations that torch.compile's own log reports.
#include "analyzers/recompile/dynamo.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/recompilation.h"

namespace xlaprof {
namespace {

std::string DynamoTitle(const Finding& finding, const DynamoFigures& figures) {
  if (figures.programs)
    return fmt::format("torch.compile stopped compiling `{}`: it reached its limit of {}",
                       figures.function, Plural(*figures.programs, "program"));
  return fmt::format("torch.compile compiled `{}` again, {}", figures.function,
                     Plural(*finding.count, "time"));
}

std::string DynamoWhy(const DynamoFigures& figures) {
  std::string why = figures.reason.empty() ? "The log does not print the reason."
                                           : fmt::format("PyTorch's reason: {}.", figures.reason);
  if (figures.programs) why += " Inputs that no program fits now run without being compiled.";
  return why;
}

std::string DynamoAdvice(const Finding& finding) {
  std::string advice;
  switch (finding.reason->type) {
    case ReasonType::kShapeChange:
      advice =
          "Pad this input to few sizes. If the backend accepts dynamic sizes, torch.compile(dynamic=True) or torch._dynamo.mark_dynamic also helps; the backend openxla compiles each size.";
      break;
    case ReasonType::kDtypeChange:
      advice = "Convert this input to one dtype before the call.";
      break;
    default:
      advice = "Keep what the reason names the same in each call, or pass it as a tensor.";
  }
  return advice + " TORCH_LOGS=recompiles prints the reason of every recompilation.";
}

}  // namespace

Words SayDynamo(const Finding& finding) {
  const auto& figures = std::any_cast<const DynamoFigures&>(finding.figures);
  return {.title = DynamoTitle(finding, figures),
          .why = DynamoWhy(figures),
          .cost_note = "not measured, because this log has no times of compilations",
          .advice = DynamoAdvice(finding),
          .evidence = {figures.reason}};
}

}  // namespace xlaprof
