// Finds the marks of PT_XLA_DEBUG's lines in a log.
#pragma once

#include <string_view>

namespace xlaprof {

enum Block { kCompilation, kExecution, kUnexpected, kPost, kBlocks };

inline constexpr std::string_view kProfiler = "pt-xla-profiler:";

struct Marker {
  size_t begin = std::string_view::npos, end = std::string_view::npos;
  Block block = kBlocks;  // kBlocks: pt-xla-profiler
};

// These return the first marker from `from` on, `KIND Analysis:` or kProfiler; npos if there is
// none.
Marker FindBlock(std::string_view text, size_t from);
Marker FindProfiler(std::string_view text, size_t from);

// Returns whether a line is a ruler of `mark`, even if its end is missing.
bool IsRuler(std::string_view text, char mark);

}  // namespace xlaprof
