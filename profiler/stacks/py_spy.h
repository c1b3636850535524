// Reads what `py-spy dump --json` prints: an array of threads, each with its frames, innermost
// first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "profiler/stacks/thread_stack.h"

namespace xlaprof::stacks {

// Returns the threads of one process. Returns DataLoss if the text is not such an array.
absl::StatusOr<std::vector<ThreadStack>> ParsePySpy(std::string_view json);

// Returns the sentence of an error that py-spy printed, without its advice and its own stack.
std::string PySpyError(std::string_view err);

}  // namespace xlaprof::stacks
