// Finds the user's function that was running at a time, in a profile with Python's calls.
#pragma once

#include <cstdint>

#include "analyzers/run/run.h"
#include "core/base/source_place.h"
#include "core/base/status.h"

namespace xlaprof {

// Returns the innermost call of the user's code on a track that contains the time, with the line of
// its definition; an empty place if there is none.
absl::StatusOr<SourcePlace> UserCallAt(const Run& run, int64_t track_id, int64_t ts_ns);

}  // namespace xlaprof
