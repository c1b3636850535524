// Finds the path that the environment tells this process to record to. Internal to profiler/record.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/record/record.h"

namespace xlaprof::record {

struct Started {
  std::filesystem::path path;  // of the store
  Recording recording;
};

// Starts recording to what XLAPROF_RECORD says: a file, or a file of this process's own in a
// directory, which is created. Leaves nothing behind if it fails.
absl::StatusOr<Started> StartAt(const std::string& where);

// Returns whether children that are forked from this process record into its directory.
bool RecordsForkedChildren();

// Starts recording a child that was forked from a process that records into a directory, to a file
// of its own there. Returns FailedPrecondition if the parent does not record into a directory.
absl::StatusOr<Started> StartForkedChild();

// Starts recording to a temporary file, and removes such files of processes that were killed.
absl::StatusOr<Started> StartTemporary();

}  // namespace xlaprof::record
