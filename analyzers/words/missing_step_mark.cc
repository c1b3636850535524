// The words of missing_step_mark.
#include "analyzers/missing_step_mark.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

std::string MarkAdvice(Framework framework) {
  return framework == Framework::kCpp
             ? "Call sync() or mark_step() at the end of each step, or iterate with DeviceLoader, which does it for you."
             : "Call torch_xla.sync() at the end of each step, or iterate with MpDeviceLoader, which does it for you.";
}

std::string Title(const UnmarkedExecutionsFigures& figures, int64_t executions) {
  using Growth = UnmarkedExecutionsFigures::Growth;
  switch (figures.growth) {
    case Growth::kUnknown:
      return fmt::format("no step mark in {} executions", executions);
    case Growth::kNone:
      return fmt::format("no step mark in {} executions; the graphs do not grow", executions);
    case Growth::kGrows:
      return fmt::format("no step mark: the graph grew from {} to {} nodes in {} executions",
                         figures.first_nodes.value_or(0), figures.last_nodes.value_or(0),
                         executions);
    case Growth::kInputsGrow:
      return fmt::format("no step mark in {} executions; the graph grew from {} to {} inputs",
                         executions, figures.first_inputs.value_or(0),
                         figures.last_inputs.value_or(0));
  }
  return "";
}

std::string Why(const UnmarkedExecutionsFigures& figures) {
  if (figures.growth == UnmarkedExecutionsFigures::Growth::kInputsGrow)
    return "A read forced every execution, and no step mark ended the graph. So each read evaluates all that its value needs at once, and most reads compile a new, larger graph.";
  return figures.repeats
             ? "A read forced every execution, and no step mark ended the graph. So each read evaluates all earlier steps again."
             : "A different read forced each execution, which may also happen within one step. Trace for longer than a step to distinguish the two.";
}

std::string CostNote(const UnmarkedExecutionsFigures& figures) {
  if (!figures.again_ns && !figures.compile_ns && figures.loop)
    return "not measured, because no source has times of these compilations";
  if (!figures.again_ns && !figures.compile_ns)
    return "not measured; every node is traced, hashed and run again until a step mark";
  std::string note;
  if (figures.compile_ns)
    note = fmt::format(
        "{} for compiling a larger graph at each read after the first{}",
        DurationText(*figures.compile_ns),
        figures.growth == UnmarkedExecutionsFigures::Growth::kInputsGrow ? " at this line" : "");
  if (figures.again_ns)
    note += fmt::format(
        "{}about {} for running nodes of earlier steps again (estimated by the number of nodes)",
        note.empty() ? "" : ", and ", DurationText(*figures.again_ns));
  return note;
}

// Returns the words for reads of which each evaluates a whole loop.
Words SayLoop(const UnmarkedExecutionsFigures& figures, const Finding& finding,
              Framework framework) {
  return {
      .title = fmt::format("no step mark: each of {} reads evaluates a whole loop, of {} nodes",
                           finding.count.value_or(0), figures.last_nodes.value_or(0)),
      .why = fmt::format(
          "The graph contains an unrolled loop: what {} records occurs {} times. Most reads evaluate a new graph, because what is not reset without a step mark, such as the state of random numbers, grows.",
          figures.loop->location, figures.loop->turns),
      .cost_note = CostNote(figures),
      .saving_note = finding.saving_ns ? "each round then evaluates the same small graph" : "",
      .advice =
          framework == Framework::kCpp
              ? "Call sync() at the end of each round of the loop."
              : "Call torch_xla.sync() at the end of each round of the loop, so that one small graph is compiled once and serves all rounds.",
      .evidence = {"first and last"}};
}

Words Say(const UnmarkedExecutionsFigures& figures, const Finding& finding, Framework framework) {
  if (figures.loop && figures.repeats) return SayLoop(figures, finding, framework);
  return {.title = Title(figures, finding.count.value_or(0)),
          .why = Why(figures),
          .cost_note = CostNote(figures),
          .saving_note = finding.saving_ns
                             ? "each step then evaluates the same graph, unless its sizes change"
                             : "",
          .advice = MarkAdvice(framework),
          .evidence = {"first and last"}};
}

std::string EvidenceLine(const UnmarkedOperationsFigures& figures, int64_t executions) {
  return fmt::format("LazyTracing {} values, ExecuteTime {}, MarkStep absent",
                     figures.traced_operations, executions);
}

Words Say(const UnmarkedOperationsFigures& figures, const Finding& finding, Framework framework) {
  return {
      .title = fmt::format("no step mark after {} traced operations", figures.traced_operations),
      .why = "The counter MarkStep is absent, so no graph was cut at the end of a step.",
      .cost_note = "not measured, because counters do not record the sizes of graphs",
      .advice = MarkAdvice(framework),
      .evidence = {EvidenceLine(figures, finding.count.value_or(0))}};
}

}  // namespace

Words SayMissingStepMark(const Finding& finding, Framework framework) {
  return std::visit([&](const auto& figures) { return Say(figures, finding, framework); },
                    std::any_cast<const MissingStepMarkFigures&>(finding.figures));
}

}  // namespace xlaprof
