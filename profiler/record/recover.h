// Recordings whose process was killed.
#pragma once

#include <filesystem>
#include <optional>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Takes in what the process that recorded to the store at `path` had completed when it was killed,
// exactly once, and deletes its ring; the number of events. 0: there is no ring, or nothing in it.
// Scopes that were open become events that never ended. Of a thread whose part of the ring is
// damaged, what came before the damage, and an import issue for the rest. FailedPrecondition: the
// recording still runs. DataLoss: no ring of a recording, or its head is damaged; nothing was
// changed.
absl::StatusOr<int64_t> RecoverRecording(const std::filesystem::path& path);

// For who only reads: a copy of the store at `path` with what its recording left, where its process
// was killed. Nothing where there is nothing to take in, or the recording runs still. DataLoss: the
// ring is damaged. Neither file is changed.
absl::StatusOr<std::optional<Store>> ReadKilled(const std::filesystem::path& path);

// The ring file of a store: beside it while its recording runs, or was killed.
std::filesystem::path RingPath(const std::filesystem::path& store);

}  // namespace xlaprof
