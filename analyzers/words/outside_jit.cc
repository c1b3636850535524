#include "analyzers/recompile/outside_jit.h"

#include <algorithm>

#include "analyzers/quantity.h"
#include "analyzers/recompilation.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxLines = 3;  // lines that the reason names

// Returns "add 12, mul 3 and 4 more".
std::string Named(const OperationCounts& operations) {
  std::string text;
  for (const auto& [name, count] : operations.most)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count);
  if (operations.others > 0) text += fmt::format(" and {} more", operations.others);
  return text;
}

std::string Title(const OutsideJitFigures& figures, int64_t programs) {
  std::string title = fmt::format(
      "{} of single operations, called outside of jit{} ({})", Plural(programs, "program"),
      figures.at_start ? " at the start" : "", Named(figures.operations));
  if (figures.processes > 1) title += fmt::format(" (in each of {} processes)", figures.processes);
  return title;
}

std::string Why(const OutsideJitFigures& figures) {
  std::string why =
      "JAX compiles an operation outside a jitted function separately, once for each shape.";
  if (figures.at_start) why += " All of them came before the first jitted function was compiled.";
  for (size_t i = 0; i < std::min(kMaxLines, figures.lines.size()); ++i) {
    const OperationsAtLine& line = figures.lines[i];
    why += fmt::format("{}{} ({}, {})", i == 0 ? " Most are at " : ", ", line.place.ShortText(),
                       line.count, DurationText(line.ns));
  }
  if (!figures.lines.empty()) why += ".";
  return why;
}

std::string Advice(const OutsideJitFigures& figures) {
  if (figures.at_start)
    return "A long run needs no change. If the start takes too long, put the code that makes parameters and state into one function under jax.jit.";
  if (!figures.lines.empty())
    return "Put the code around these lines into a function under jax.jit, which makes one program instead of one per operation and shape. Prepare data with numpy, which compiles nothing.";
  std::string advice =
      "Put the code around these operations into functions under jax.jit, and prepare data with numpy.";
  if (!figures.explained)
    advice +=
        " To see their lines, run again with JAX_EXPLAIN_CACHE_MISSES=1 and JAX_LOG_COMPILES=1.";
  return advice;
}

std::string EvidenceLine(const std::variant<OperationsAtLine, OperationCounts>& shown) {
  if (const auto* operations = std::get_if<OperationCounts>(&shown)) return Named(*operations);
  const auto& line = std::get<OperationsAtLine>(shown);
  return fmt::format("{} at {}, {}", line.count, line.place.ShortText(), DurationText(line.ns));
}

}  // namespace

Words SayOutsideJit(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const OutsideJitFigures&>(finding.figures);
  Words words{.title = Title(figures, *finding.count),
              .why = Why(figures),
              .cost_note = finding.cost_ns
                               ? "their compile time, with tracing and lowering on the host"
                               : "not measured, because no source times these compiles",
              .advice = Advice(figures)};
  for (const auto& shown : figures.evidence) words.evidence.push_back(EvidenceLine(shown));
  return words;
}

}  // namespace xlaprof
