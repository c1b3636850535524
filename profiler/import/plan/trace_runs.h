// Groups traces that are next to one another. The ranks of one job that were recorded together are
// one capture; all other traces are captures of their own.
#pragma once

#include <span>
#include <vector>

#include "profiler/import/plan/places.h"

namespace xlaprof {

// Sets `capture` of the traces, named by the time of its recording. Does nothing in a job with one
// trace, or whose captures have RUN folders. `places` are those of `files`, with their roots.
void GroupTraces(std::span<const IdentifiedFile> files, std::vector<Place>& places);

}  // namespace xlaprof
