// What marks the lines of PT_XLA_DEBUG in a log.
#pragma once

#include <string_view>

namespace xlaprof {

enum Block { kCompilation, kExecution, kUnexpected, kPost, kBlocks };

inline constexpr std::string_view kProfiler = "pt-xla-profiler:";

struct Marker {
  size_t begin = std::string_view::npos, end = std::string_view::npos;
  Block block = kBlocks;  // kBlocks: pt-xla-profiler
};

// The first from `from` on: `KIND Analysis:`, and kProfiler. npos where there is none.
Marker FindBlock(std::string_view text, size_t from);
Marker FindProfiler(std::string_view text, size_t from);

// Whether a line is one of `mark`, as far as it is there.
bool IsRuler(std::string_view text, char mark);

}  // namespace xlaprof
