// The words of recompile_limit.
#include "analyzers/recompile_limit.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"
#include "analyzers/recompile/function_part.h"
#include "analyzers/words/ranks.h"

namespace xlaprof {

Words SayRecompileLimit(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const RecompileLimitFigures&>(finding.figures);
  std::string why =
      "Calls that none of its programs fits now run without being compiled, or raise an error if fullgraph=True.";
  if (figures.last_compile_ns)
    why += fmt::format(" Its last compilation ended {} after the first one of the process began.",
                       DurationText(*figures.last_compile_ns));
  if (!figures.reason.empty()) {
    why += fmt::format(" The check that failed last: {}", figures.reason);
    if (!why.ends_with('.')) why += '.';
  }
  return {
      .title =
          fmt::format("torch.compile stopped compiling {}: it reached its limit of {}{}",
                      FunctionText(figures.function), Plural(finding.count.value_or(0), "program"),
                      RanksText(finding.only_ranks)),
      .why = why,
      .cost_note =
          "not measured, because no source times the calls that run without being compiled",
      .advice =
          "Remove the cause of the recompilations. If the function needs a fixed set of programs, raise torch._dynamo.config.recompile_limit (cache_size_limit before PyTorch 2.7).",
      .evidence = {figures.reason}};
}

}  // namespace xlaprof
