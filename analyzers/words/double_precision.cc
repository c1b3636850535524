// The words of double_precision.
#include "analyzers/double_precision.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {

namespace {

std::string Why(const DoublePrecisionFigures& figures) {
  if (figures.inputs > 0)
    return fmt::format("{} of the program {} float64.", Plural(figures.inputs, "input array"),
                       figures.inputs == 1 ? "is" : "are");
  return fmt::format("{} makes all that is computed with it float64.",
                     figures.has_array ? "An array of float64 that the program contains"
                                       : "A number or array of float64 inside the program");
}

std::string_view Advice(const DoublePrecisionFigures& figures, Framework framework) {
  if (figures.inputs > 0)
    return framework == Framework::kJax
               ? "If the program does not need this precision, make its arrays float32: x.astype(np.float32) for data, and dtype=jnp.float32 for parameters. NumPy makes float64 arrays, and jax_enable_x64 keeps them so; integers may stay int64."
               : "If the program does not need this precision, convert its inputs to float32.";
  return framework == Framework::kJax
             ? "Give the array or number the type of the rest: table.astype(np.float32), or jnp.asarray(x, dtype=y.dtype). To compute only some values in float64, convert them with .astype, and convert the result back."
             : "Give the array or number the type of the rest, and convert back to float32 after what needs float64.";
}

}  // namespace

Words SayDoublePrecision(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const DoublePrecisionFigures&>(finding.figures);
  return {
      .title = fmt::format("{} of the busy time of {} goes into float64{}{}",
                           PercentText(figures.share), figures.device,
                           figures.program.empty() ? "" : fmt::format(" in `{}`", figures.program),
                           figures.inputs > 0 ? "" : ", although no input array is float64"),
      .why = Why(figures),
      .cost_note = fmt::format("time of the ops on {} whose results are float64", figures.device),
      .saving_note =
          "a CPU computes float32 in about half the time, and an accelerator in much less",
      .advice = std::string(Advice(figures, framework)),
      .tells_share = true,
      .is_open_question = figures.inputs > 0};
}

}  // namespace xlaprof
