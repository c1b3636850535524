// The words of compile_failure.
#include "analyzers/compile_failure.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"
#include "analyzers/recompile/function_part.h"

namespace xlaprof {
namespace {

std::string Title(const Finding& finding, const CompileFailureFigures& figures) {
  return fmt::format("torch.compile could not compile {}, {}",
                     figures.function.empty() ? "a function" : FunctionText(figures.function),
                     TimesText(finding.count.value_or(0)));
}

std::string Why(const CompileFailureFigures& figures) {
  std::string why = figures.error.empty() ? "PyTorch" : figures.error;
  why += figures.message.empty() ? " gives no message" : ": " + figures.message;
  if (!why.ends_with('.')) why += '.';
  if (!figures.compiled.empty())
    why += fmt::format(" The function is at {}.", figures.compiled.text());
  return why + " The function then ran without being compiled, or the error reached the program.";
}

std::string Advice(const Finding& finding, const CompileFailureFigures& figures) {
  switch (finding.reason->type) {
    case ReasonType::kNoCompiler:
      return "Install a C++ compiler, or set the environment variable CXX to one. Inductor needs it to compile for CPUs.";
    case ReasonType::kBackendError:
      return "Find the operation that the backend does not support: torch.compile(backend=\"eager\") and backend=\"aot_eager\" show which part fails. Until it is supported, exclude it with torch.compiler.disable.";
    case ReasonType::kDataDependentBranch:
      return "Select values with torch.where, or use torch.cond. Without fullgraph=True, the graph ends at the branch, and the rest is compiled.";
    case ReasonType::kValueAccess:
      return "Compute with the tensor itself instead of its number, or read it after the compiled function. Without fullgraph=True, the graph ends at the read, and the rest is compiled.";
    default:
      break;
  }
  std::string advice =
      "Move what cannot be traced out of the compiled function. Without fullgraph=True, the graph ends there, and the rest is compiled.";
  if (!figures.hint.empty()) advice += " PyTorch's own advice: " + figures.hint;
  return advice;
}

}  // namespace

Words SayCompileFailure(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const CompileFailureFigures&>(finding.figures);
  return {
      .title = Title(finding, figures),
      .why = Why(figures),
      .cost_note =
          finding.cost_ns
              ? "the time until the compilations failed; what the function takes without being compiled is not known"
              : "not measured, because the source has no times of failed compilations",
      .advice = Advice(finding, figures),
      .evidence = {figures.message}};
}

}  // namespace xlaprof
