// Reads what gdb prints for `thread apply all bt`, and for `thread apply all py-bt` if its extension
// for Python is there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/stacks/thread_stack.h"

namespace xlaprof::stacks {

// Returns the arguments after `gdb` that make it print the stacks of `pid`, with at most
// `most_frames` frames per thread.
std::vector<std::string> GdbArguments(int64_t pid, bool runs_python, int most_frames);

// Returns the threads of process `pid`. A thread of which Python's frames are known has only those.
// Lines of other kinds are ignored.
std::vector<ThreadStack> ParseGdb(std::string_view text, int64_t pid);

// Returns the line of gdb's errors that says why it could not attach, or "".
std::string GdbError(std::string_view err);

}  // namespace xlaprof::stacks
