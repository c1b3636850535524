// Groups Chrome traces that are next to one another. The ranks of one job that were recorded
// together are one run; all other traces are runs of their own.
#pragma once

#include <vector>

#include "profiler/import/found_files.h"

namespace xlaprof {

// Sets `run` of the traces among `files`, named by the time of its recording. Does nothing if there
// is one trace, or if RUN folders separate the runs.
void GroupTraces(std::vector<FoundFile>& files);

}  // namespace xlaprof
