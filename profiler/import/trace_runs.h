// Chrome traces that lie side by side: the ranks of one job that were recorded together are one
// run, all others are runs of their own.
#pragma once

#include <vector>

#include "profiler/import/found_files.h"

namespace xlaprof {

// Gives the traces among `files` their `run`, named by when it was recorded. Does nothing where
// there is one trace, or where RUN folders tell the runs.
void GroupTraces(std::vector<FoundFile>& files);

}  // namespace xlaprof
