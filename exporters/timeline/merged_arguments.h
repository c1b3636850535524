// Merges an event's arguments with those of its name, if some keys are in both.
#pragma once

#include <vector>

#include "profiler/store/ordered_events.h"

namespace xlaprof {

// Returns the event's own arguments, then those of its name for which the event has no value.
// `index` is the event's index in its chunk.
std::vector<Argument> MergedArguments(const ChunkArguments& arguments, size_t index);

}  // namespace xlaprof
