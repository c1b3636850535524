// Where the environment says that this process is recorded to. Internal to profiler/record.
#pragma once

#include <filesystem>
#include <string>

#include "profiler/record/record.h"

namespace xlaprof::record {

struct Started {
  std::filesystem::path path;  // of the store
  Recording recording;
};

// To what XLAPROF_RECORD says: a file, or one of this process's own in a folder, which is made.
// Nothing is left where it fails.
absl::StatusOr<Started> StartAt(const std::string& where);

// To a file that is gone with the recording. Those of processes that were killed are removed.
absl::StatusOr<Started> StartTemporary();

}  // namespace xlaprof::record
