// The words of recompilations that torch.compile's own log reports.
#include "analyzers/recompile/dynamo.h"

#include <fmt/format.h>

#include "analyzers/quantity.h"
#include "analyzers/recompilation.h"
#include "analyzers/recompile/function_part.h"

namespace xlaprof {
namespace {

std::string DynamoTitle(const Finding& finding, const DynamoFigures& figures) {
  return fmt::format("torch.compile compiled {} again, {}", FunctionText(figures.function),
                     Plural(*finding.count, "time"));
}

std::string DynamoWhy(const DynamoFigures& figures) {
  std::string why = figures.reason.empty() ? "The log does not print the reason."
                                           : fmt::format("PyTorch's reason: {}", figures.reason);
  if (!why.ends_with('.')) why += '.';
  return why;
}

std::string_view DynamoAdvice(const Finding& finding, const DynamoFigures& figures) {
  if (figures.is_parameter)
    return "The function is called with parameters of different sizes, which torch.compile treats as static. Set torch._dynamo.config.force_parameter_static_shapes = False, or call it with parameters of one size each from functions of their own.";
  switch (finding.reason->type) {
    case ReasonType::kShapeChange:
      return "Compile with torch.compile(dynamic=True), or mark the dimension with torch._dynamo.mark_dynamic. If the backend compiles each size by itself, pad this input to few sizes. For a fixed set of sizes, such as those of parameters, raise torch._dynamo.config.recompile_limit (cache_size_limit before PyTorch 2.7).";
    case ReasonType::kDtypeChange:
      return "Convert this input to one dtype before the call.";
    case ReasonType::kConstantChange:
      return "A Python number that the function reads differs between the calls. Pass it as a tensor, or let torch.compile trace it as a symbol (dynamic=True).";
    default:
      return "Keep what the reason names the same in each call, or pass it as a tensor.";
  }
}

}  // namespace

Words SayDynamo(const Finding& finding) {
  const auto& figures = std::any_cast<const DynamoFigures&>(finding.figures);
  return {.title = DynamoTitle(finding, figures),
          .why = DynamoWhy(figures),
          .cost_note = "not measured, because this log has no times of compilations",
          .advice = std::string(DynamoAdvice(finding, figures)),
          .unseen = Unseen{"how long each recompilation took"},
          .evidence = {figures.reason}};
}

}  // namespace xlaprof
