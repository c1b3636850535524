// What PT_XLA_DEBUG says when the program ends: which lines ran operations on the CPU, how often.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy::debug {

// `op` as its counter is named: aten::nonzero. From any thread.
void AddFallback(std::string_view op, const std::vector<std::string>& frames);

// Of all so far, most frequent first; "" where there are none. Operation and line are one entry,
// where torch_xla has two and its own function for the operation.
std::string FallbackSummary();

}  // namespace xlaprof::lazy::debug
