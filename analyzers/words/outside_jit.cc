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

// Returns "9 loops (scan 7, while 2) and 78 single operations (add 12, mul 3 and 4 more)".
std::string LoopsAndOperations(const OutsideJitFigures& figures, int64_t programs) {
  std::string text =
      fmt::format("{} ({})", Plural(figures.loop_programs, "loop"), Named(figures.loops));
  if (const int64_t operations = programs - figures.loop_programs; operations > 0)
    text += fmt::format(" and {} ({})", Plural(operations, "single operation"),
                        Named(figures.operations));
  return text;
}

std::string Title(const OutsideJitFigures& figures, int64_t programs) {
  const std::string_view when = figures.at_start ? " at the start" : "";
  std::string title;
  if (figures.all_resharding) {
    title = fmt::format("{} of JAX's own that moved arrays to another sharding{} (device_put)",
                        Plural(programs, "program"), when);
  } else if (figures.loop_programs > 0) {
    title = fmt::format("{} called outside of jit{}: {}", Plural(programs, "program"), when,
                        LoopsAndOperations(figures, programs));
  } else {
    title = fmt::format("{} of single operations, called outside of jit{} ({})",
                        Plural(programs, "program"), when, Named(figures.operations));
  }
  if (figures.processes > 1) title += fmt::format(" (in each of {} processes)", figures.processes);
  return title;
}

// Returns "train.py:7 (8 programs, 11.5 s)".
std::string LineText(const OperationsAtLine& line) {
  const std::string time = line.ns > 0 ? ", " + DurationText(line.ns) : "";
  return fmt::format("{} ({}{})", line.place.ShortText(), Plural(line.count, "program"), time);
}

std::string Why(const OutsideJitFigures& figures) {
  std::string why =
      figures.all_resharding
          ? "JAX compiles a program for each shape and pair of shardings."
          : "JAX compiles an operation outside a jitted function separately, once for each shape.";
  if (figures.loop_programs > 1)
    why += " A loop is one program with its body, compiled again for each new body function.";
  if (figures.at_start) why += " All of them came before the first jitted function was compiled.";
  for (size_t i = 0; i < std::min(kMaxLines, figures.lines.size()); ++i) {
    const OperationsAtLine& line = figures.lines[i];
    const std::string_view lead = line.ns > 0 ? " Most time went to " : " Most are at ";
    why += fmt::format("{}{}", i == 0 ? lead : ", ", LineText(line));
  }
  if (!figures.lines.empty()) why += ".";
  return why;
}

std::string Advice(const OutsideJitFigures& figures) {
  if (figures.all_resharding)
    return "Make each array with the sharding in which it is used, for example with out_shardings of the jitted function that returns it.";
  if (figures.at_start)
    return "A long run needs no change. If the start takes too long, put the code that makes parameters and state into one function under jax.jit.";
  const std::string_view once =
      figures.loop_programs > 1
          ? " Make that function once, because a new one for each call compiles the loops again."
          : "";
  if (!figures.lines.empty())
    return fmt::format(
        "Put the code around these lines into a function under jax.jit, which makes one program instead of one per operation and shape.{} Prepare data with numpy, which compiles nothing.",
        once);
  return fmt::format(
      "Put the code around these operations into functions under jax.jit, and prepare data with numpy.{}",
      once);
}

std::string EvidenceLine(const std::variant<OperationsAtLine, OperationCounts>& shown) {
  if (const auto* operations = std::get_if<OperationCounts>(&shown)) return Named(*operations);
  return LineText(std::get<OperationsAtLine>(shown));
}

}  // namespace

Words SayOutsideJit(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const OutsideJitFigures&>(finding.figures);
  const bool shows_no_line = !figures.all_resharding && !figures.at_start &&
                             figures.lines.empty() && !figures.explained;
  Words words{.title = Title(figures, *finding.count),
              .why = Why(figures),
              .cost_note = finding.cost_ns
                               ? "their compile time, with tracing and lowering on the host"
                               : "not measured, because no source times these compiles",
              .advice = Advice(figures)};
  if (shows_no_line) words.unseen = Unseen{"their lines"};
  for (const auto& shown : figures.evidence) words.evidence.push_back(EvidenceLine(shown));
  return words;
}

}  // namespace xlaprof
