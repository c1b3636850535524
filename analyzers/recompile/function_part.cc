#include "analyzers/recompile/function_part.h"

#include <fmt/format.h>

#include "base/numbers.h"

namespace xlaprof {

FunctionPart ParseFunctionPart(std::string_view name) {
  constexpr std::string_view kResume = "torch_dynamo_resume_in_", kAt = "_at_";
  const size_t at = name.rfind(kAt);
  if (!name.starts_with(kResume) || at == name.npos || at <= kResume.size())
    return {.function = std::string(name)};
  const auto line = ParseCount(name.substr(at + kAt.size()));
  if (!line) return {.function = std::string(name)};
  return {.function = std::string(name.substr(kResume.size(), at - kResume.size())), .line = line};
}

std::string FunctionText(std::string_view name) {
  const FunctionPart part = ParseFunctionPart(name);
  if (!part.line) return fmt::format("`{}`", part.function);
  return fmt::format("`{}` behind its graph break at line {}", part.function, *part.line);
}

}  // namespace xlaprof
