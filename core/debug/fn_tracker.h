// Makes the entries of XLA_FNTRACKER_FILE for operations that run on the CPU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof::lazy::debug {

// Returns whether XLA_FNTRACKER_LIST asks for `op`, which has the name of its counter. The list has
// names like torch_xla's former tags: nonzero.
bool IsTracked(std::string_view op);

// Returns the entry of one call: such a tag, the user's frames, and the C++ stack of the calling
// thread.
std::string FnTrackerSection(std::string_view op, const std::vector<std::string>& frames);

}  // namespace xlaprof::lazy::debug
