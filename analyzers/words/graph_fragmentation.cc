// The words of graph_fragmentation.
#include "analyzers/graph_fragmentation.h"

#include <fmt/format.h>

#include <any>

namespace xlaprof {
namespace {

std::string FewerGraphsAdvice(Framework framework) {
  return framework == Framework::kCpp
             ? "Remove what cuts the step: reads of values (item(), print, to_cpu) and ops without lowering, which the other findings name. A step should be one execution."
             : "Remove what cuts the step: reads of values (.item(), print, if tensor, float(tensor)) and ops without lowering, which the other findings name. A step should be one execution.";
}

std::string Title(const RecordedPiecesFigures& figures) {
  return fmt::format("{} executions a step: the step is evaluated in pieces",
                     figures.pieces_per_step);
}

std::string Why(const RecordedPiecesFigures& figures, int64_t executions) {
  return fmt::format("Of {} executions in {} steps, {} were forced before the step mark.",
                     executions, figures.steps, figures.forced);
}

Words Say(const RecordedPiecesFigures& figures, const Finding& finding, Framework framework) {
  return {.title = Title(figures),
          .why = Why(figures, finding.count.value_or(0)),
          .cost_note = "the findings about what cuts the step say what each wait costs",
          .advice = FewerGraphsAdvice(framework),
          .evidence = {"one typical step"}};
}

std::string Title(double pieces_per_step) {
  return fmt::format("{:.3g} executions a step: the step is evaluated in pieces", pieces_per_step);
}

std::string Why(const CountedPiecesFigures& figures, int64_t executions) {
  return fmt::format("{} has {} samples for {} step marks.", figures.metric, executions,
                     figures.step_marks);
}

std::string EvidenceLine(const CountedPiecesFigures& figures, int64_t executions) {
  return fmt::format("{} {} / MarkStep {}", figures.metric, executions, figures.step_marks);
}

Words Say(const CountedPiecesFigures& figures, const Finding& finding, Framework framework) {
  const int64_t executions = finding.count.value_or(0);
  return {.title = Title(finding.per_step.value_or(0)),
          .why = Why(figures, executions),
          .cost_note = "not measured, because counters do not record waits",
          .advice = FewerGraphsAdvice(framework),
          .evidence = {EvidenceLine(figures, executions)}};
}

}  // namespace

Words SayGraphFragmentation(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const GraphFragmentationFigures&>(finding.figures));
}

}  // namespace xlaprof
