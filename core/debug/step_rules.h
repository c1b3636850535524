// What PT_XLA_DEBUG says at each step mark.
#pragma once

#include <string>

namespace xlaprof::lazy::debug {

// A `pt-xla-profiler: ` line for each rule that the metrics break since they were last cleared.
// Operations without lowering are those that ran since then, where torch_xla goes on naming the
// ones before.
std::string StepRuleLines();

}  // namespace xlaprof::lazy::debug
