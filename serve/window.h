// Captures what this process does in a stretch of time as an XSpace. Internal to serve.
#pragma once

#include <filesystem>
#include <functional>

#include "base/status.h"

namespace xlaprof::serve {

// Records while `wait` runs, or takes that time of a recording that already runs, and writes an
// XSpace to `file`. `folder` must exist and takes temporary files. Returns the number of events. If
// `wait` returns an error, returns it and writes nothing.
absl::StatusOr<int64_t> CaptureWindow(const std::filesystem::path& folder,
                                      const std::filesystem::path& file,
                                      const std::function<absl::Status()>& wait);

}  // namespace xlaprof::serve
