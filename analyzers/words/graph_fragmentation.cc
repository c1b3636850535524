// The words of graph_fragmentation.
#include "analyzers/graph_fragmentation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string FewerGraphsAdvice(Framework framework) {
  return framework == Framework::kCpp
             ? "Remove what cuts the step: reads of values (item(), print, to_cpu) and ops without lowering, which the other findings name. A step should be one execution."
             : "Remove what cuts the step: reads of values (.item(), print, if tensor, float(tensor)) and ops without lowering, which the other findings name. A step should be one execution.";
}

std::string Title(const RecordedPiecesFigures& figures) {
  return fmt::format("each step runs as {} executions instead of 1", figures.pieces_per_step);
}

std::string Why(const RecordedPiecesFigures& figures, int64_t executions, Framework framework) {
  std::vector<std::string> parts;
  if (figures.forced > 0 || figures.inner_marks == 0)
    parts.push_back(fmt::format(
        "{} were forced {}", figures.forced,
        framework == Framework::kTorchtpu ? "by reads of values" : "before the step mark"));
  if (figures.inner_marks > 0)
    parts.push_back(fmt::format("step marks inside the steps started {}", figures.inner_marks));
  return fmt::format("Of {} executions in {} steps, {}.", executions, figures.steps,
                     fmt::join(parts, ", and "));
}

// Returns the advice to mark each step only once, if most pieces come from marks inside it.
std::string InnerMarksAdvice(const RecordedPiecesFigures& figures, const Finding& finding) {
  if (figures.inner_marks <= figures.forced) return "";
  return fmt::format(
      "Mark each step once, at its end. Remove the step mark{}, unless one graph of the whole step takes too long to compile or needs too much memory. ",
      finding.subject.file ? " at " + finding.subject.place().text() : " inside it");
}

Words Say(const RecordedPiecesFigures& figures, const Finding& finding, Framework framework) {
  return {
      .title = Title(figures),
      .why = Why(figures, finding.count.value_or(0), framework),
      .cost_note =
          figures.inner_marks > figures.forced
              ? "not measured: each piece is dispatched by itself, and the compiler does not see the whole step"
              : "the findings about what cuts the step say what each wait costs",
      .advice =
          InnerMarksAdvice(figures, finding) +
          (figures.forced > 0 || figures.inner_marks == 0 ? FewerGraphsAdvice(framework) : ""),
      .evidence = {"one typical step"}};
}

std::string Title(double pieces_per_step) {
  return fmt::format("each step runs as {:.3g} executions instead of 1", pieces_per_step);
}

std::string Why(const CountedPiecesFigures& figures, int64_t executions) {
  return fmt::format("{} has {} values for {} step marks.", figures.metric, executions,
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

Words Say(const OperationsOutsideJitFigures& figures, const Finding& finding, Framework) {
  std::vector<std::string> most, lines;
  for (const auto& [operation, count] : figures.most)
    most.push_back(fmt::format("{} {}", operation, CountText(count)));
  for (const SourcePlace& line : figures.lines) lines.push_back(line.ShortText());
  return {
      .title = fmt::format(
          "{:.0f} single operations run outside of jit for each execution of `{}` ({}{})",
          figures.per_execution, figures.function, fmt::join(most, ", "),
          figures.has_others ? ", ..." : ""),
      .why = fmt::format(
          "JAX runs code outside of jit one operation at a time, and each is an execution of its own.{}",
          lines.empty() ? "" : fmt::format(" Most are called at {}.", fmt::join(lines, ", "))),
      .cost_note =
          finding.cost_ns
              ? "time of these executions on the device; the host needs more to ask for each of them"
              : "not measured",
      .advice =
          "Put this code into a function that jax.jit compiles, for example into the step itself.",
      .evidence = {"some of these executions"}};
}

}  // namespace

Words SayGraphFragmentation(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const GraphFragmentationFigures&>(finding.figures));
}

}  // namespace xlaprof
