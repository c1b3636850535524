// Makes the lines that PT_XLA_DEBUG prints at each step mark.
#pragma once

#include <string>

namespace xlaprof::lazy::debug {

// Returns a `pt-xla-profiler: ` line per rule that the metrics have broken since they were last
// cleared. Operations without lowering are only those that ran since then; torch_xla keeps naming
// earlier ones.
std::string StepRuleLines();

}  // namespace xlaprof::lazy::debug
