// The words of double_precision.
#include "analyzers/double_precision.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {

Words SayDoublePrecision(const Finding& finding, Framework framework) {
  const auto& figures = std::any_cast<const DoublePrecisionFigures&>(finding.figures);
  return {
      .title = fmt::format(
          "{} of the busy time of {} goes into float64{}, although no input array is float64",
          PercentText(figures.share), figures.device,
          figures.program.empty() ? "" : fmt::format(" in `{}`", figures.program)),
      .why = fmt::format("{} makes all that is computed with it float64.",
                         figures.has_array ? "An array of float64 that the program contains"
                                           : "A number or array of float64 inside the program"),
      .cost_note = fmt::format("time of the ops on {} whose results are float64", figures.device),
      .saving_note =
          "a CPU computes float32 in about half the time, and an accelerator in much less",
      .advice = framework == Framework::kJax
                    ? "Give the array or number the type of the rest: table.astype(np.float32), or "
                      "jnp.asarray(x, dtype=y.dtype). To compute only some values in float64, "
                      "convert them with .astype, and convert the result back."
                    : "Give the array or number the type of the rest, and convert back to float32 "
                      "after what needs float64.",
      .tells_share = true};
}

}  // namespace xlaprof
