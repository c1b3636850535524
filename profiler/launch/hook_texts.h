// The texts of the Python files in profiler/launch/hook, which CMake writes into the program.
#pragma once

#include <span>
#include <string_view>

namespace xlaprof {

struct HookText {
  std::string_view path;  // below profiler/launch/hook
  std::string_view text;
};

std::span<const HookText> HookTexts();

}  // namespace xlaprof
