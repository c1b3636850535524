// Writes graphs as text, for the files that environment variables name.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/program.h"
#include "core/ir/text.h"

namespace xlaprof::lazy::debug {

// Returns a graph's text. `format` is a value of XLA_SAVE_TENSORS_FMT.
std::string GraphText(const Program& program, std::string_view format, TextOptions options);

// Return the two parts of a section of XLA_SAVE_TENSORS_FILE. The first ends with the graph. The
// second is written when the graph was compiled, so a section without its end shows that
// compilation failed.
std::string SectionBegin(const std::vector<std::string>& frames, std::span<const Hash> roots,
                         std::string_view graph);
std::string SectionEnd(const Hash& hash);

// Returns the section of XLA_SAVE_HLO_FILE for a program that does not compile.
std::string HloSection(int64_t number, int64_t thread, std::string_view hlo);

}  // namespace xlaprof::lazy::debug
