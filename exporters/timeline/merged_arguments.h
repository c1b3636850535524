// An event's arguments where its name has some of the same keys.
#pragma once

#include <vector>

#include "profiler/store/ordered_events.h"

namespace xlaprof {

// The event's own, then those of its name for which it has no value itself. `index`: in its chunk.
std::vector<Argument> MergedArguments(const ChunkArguments& arguments, size_t index);

}  // namespace xlaprof
