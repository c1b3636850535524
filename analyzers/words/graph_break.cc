// The words of graph_break.
#include "analyzers/graph_break.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"
#include "analyzers/words/ranks.h"

namespace xlaprof {
namespace {

std::string BrokenFunction(const GraphBreakFigures& figures) {
  return figures.function.empty() ? "a function" : fmt::format("`{}`", figures.function);
}

std::string Title(const Finding& finding, const GraphBreakFigures& figures) {
  switch (finding.reason->type) {
    case ReasonType::kValueAccess:
      return fmt::format("the graph of {} ends where a tensor's value is read",
                         BrokenFunction(figures));
    case ReasonType::kDataDependentBranch:
      return fmt::format("the graph of {} ends at a branch on a tensor's value",
                         BrokenFunction(figures));
    default:
      return fmt::format("the graph of {} ends at a line that torch.compile cannot trace",
                         BrokenFunction(figures));
  }
}

std::string Why(const GraphBreakFigures& figures) {
  std::string why = fmt::format("PyTorch says: {}", figures.reason);
  if (!figures.code.empty()) why += fmt::format(" ({})", figures.code);
  why += why.ends_with('.') ? "" : ".";
  if (!figures.library.empty())
    why += fmt::format(" The line is in a library: {}.", figures.library.text());
  if (figures.parts > 1) {
    why += fmt::format(" {} is compiled in {} parts", BrokenFunction(figures), figures.parts);
    if (figures.places > 1)
      why += fmt::format(", because its graph ends at {} places", figures.places);
    why += '.';
  }
  return why;
}

std::string GeneralAdvice() {
  return "Move what the line does out of the compiled function, or compile the parts around it by themselves.";
}

std::string Advice(const Finding& finding, const GraphBreakFigures& figures) {
  switch (finding.reason->type) {
    case ReasonType::kValueAccess:
      return "Compute with the tensor itself instead of its number, or read it after the compiled function. torch._dynamo.config.capture_scalar_outputs = True keeps .item() in the graph.";
    case ReasonType::kDataDependentBranch:
      return "Select values with torch.where. If the branches do different work, use torch.cond, or branch outside of the compiled function.";
    default:
      break;
  }
  if (!figures.library.empty())
    return "Compile a part of the program that does not contain the library's call.";
  if (figures.hint.empty()) return GeneralAdvice();
  return fmt::format("{} PyTorch's own advice: {}", GeneralAdvice(), figures.hint);
}

}  // namespace

Words SayGraphBreak(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const GraphBreakFigures&>(finding.figures);
  return {
      .title = Title(finding, figures) + RanksText(finding.only_ranks),
      .why = Why(figures),
      .cost_note =
          "not measured, because torch.compile reports where a graph ends, and not how long its parts run",
      .advice = Advice(finding, figures),
      .evidence = {fmt::format("met in {}", Plural(finding.count.value_or(0), "compilation"))}};
}

}  // namespace xlaprof
