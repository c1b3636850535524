// The names that torch.compile gives to the parts of a function whose graph broke.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xlaprof {

// The part of a function behind a graph break: torch_dynamo_resume_in_forward_at_15.
struct FunctionPart {
  std::string function;         // forward
  std::optional<int64_t> line;  // 15; nothing for a whole function
};

// Reads the name of a function or of a part of one.
FunctionPart ParseFunctionPart(std::string_view name);

// Returns the name for readers: "`forward`", or "`forward` behind its graph break at line 15".
std::string FunctionText(std::string_view name);

}  // namespace xlaprof
