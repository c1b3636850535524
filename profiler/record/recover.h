// Recovers recordings whose process was killed, and counts the events that forked children lost
// after their parent's recording had ended.
#pragma once

#include <filesystem>
#include <optional>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The events that recovery added to a store.
struct Recovered {
  int64_t events = 0;  // that the process had completed
  int64_t forked = 0;  // that forked children lost, which are only counted
};

// Adds to the store at `path` what its killed process had completed and what forked children lost,
// exactly once. Deletes the ring, or keeps its header if such children still run and count in it.
// Adds nothing if there is no ring, or nothing in it. Scopes that were open become events without an
// end, with the argument kOpenNsArgument (open_scope.h) if the process was killed. If a thread's part of the ring is damaged, takes what precedes the damage and adds an import
// issue for the rest. Returns FailedPrecondition if the recording still runs, and DataLoss if the
// file is not a ring or its header is damaged; then nothing was changed.
absl::StatusOr<Recovered> RecoverRecording(const std::filesystem::path& path);

// Returns a copy of the store at `path` with what RecoverRecording would add. Returns nothing if
// there is nothing to add, or if the recording still runs. Returns DataLoss if the ring is damaged.
// Changes neither file, for callers that only read.
absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path);

// Returns the path of a store's ring file. The file exists while the recording runs, if its process
// was killed, or if forked children went on after it.
std::filesystem::path RingPath(const std::filesystem::path& store);

}  // namespace xlaprof
