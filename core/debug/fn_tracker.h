// What XLA_FNTRACKER_FILE is told of an operation that runs on the CPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy::debug {

// Whether `op`, named as its counter is, is asked for: by XLA_FNTRACKER_LIST, which has names as
// torch_xla's tags once were: nonzero.
bool IsTracked(std::string_view op);

// One call: such a tag, the user's frames, and the C++ stack of the calling thread.
std::string FnTrackerSection(std::string_view op, const std::vector<std::string>& frames);

}  // namespace xlaprof::lazy::debug
