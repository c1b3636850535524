// What this process does in a stretch of time, as an XSpace. Internal to profiler/serve.
#pragma once

#include <filesystem>
#include <functional>

#include "core/base/status.h"

namespace xlaprof::serve {

// Records while `wait` runs, or takes that time of the recording that runs already, and writes an
// XSpace to `file`; `folder` is for files on the way, and exists. Returns the number of events. An
// error of `wait` is returned, and nothing written.
absl::StatusOr<int64_t> CaptureWindow(const std::filesystem::path& folder,
                                      const std::filesystem::path& file,
                                      const std::function<absl::Status()>& wait);

}  // namespace xlaprof::serve
