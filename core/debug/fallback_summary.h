// Makes the summary that PT_XLA_DEBUG prints when the program ends: which lines ran operations on
// the CPU, and how often.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy::debug {

// Counts a fallback. `op` has the name of its counter: aten::nonzero. Any thread may call this.
void AddFallback(std::string_view op, const std::vector<std::string>& frames);

// Returns the summary of all fallbacks so far, the most frequent first, or "" if there are none. An
// operation and its line form one entry. torch_xla has two, and adds its own function for the
// operation.
std::string FallbackSummary();

}  // namespace xlaprof::lazy::debug
