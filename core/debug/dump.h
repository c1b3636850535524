// Graphs as text, for the files that environment variables ask for.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/compile/program.h"
#include "core/ir/text.h"

namespace xlaprof::lazy::debug {

// `format`: one of XLA_SAVE_TENSORS_FMT.
std::string GraphText(const Program& program, std::string_view format, TextOptions options);

// A section of XLA_SAVE_TENSORS_FILE: to the end of the graph, and from there, written when the
// graph was compiled. One without its end tells that this failed.
std::string SectionBegin(const std::vector<std::string>& frames, std::span<const Hash> roots,
                         std::string_view graph);
std::string SectionEnd(const Hash& hash);

// What a program that does not compile adds to XLA_SAVE_HLO_FILE.
std::string HloSection(int64_t number, int64_t thread, std::string_view hlo);

}  // namespace xlaprof::lazy::debug
