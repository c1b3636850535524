// Recovers recordings whose process was killed.
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Adds to the store at `path` what its killed process had completed, exactly once, and deletes the
// ring. Returns the number of events; 0 if there is no ring, or nothing in it. Scopes that were
// open become events without an end. If a thread's part of the ring is damaged, takes what precedes
// the damage and adds an import issue for the rest. Returns FailedPrecondition if the recording
// still runs, and DataLoss if the file is not a ring or its header is damaged; then nothing was
// changed.
absl::StatusOr<int64_t> RecoverRecording(const std::filesystem::path& path);

// Returns a copy of the store at `path` with what its recording left in the ring, if its process
// was killed. Returns nothing if there is nothing to recover, or if the recording still runs.
// Returns DataLoss if the ring is damaged. Changes neither file, for callers that only read.
absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path);

// Returns the path of a store's ring file. The file exists while the recording runs, or if its
// process was killed.
std::filesystem::path RingPath(const std::filesystem::path& store);

}  // namespace xlaprof
