// The Python files that record a program from inside (profiler/launch/hook). The build puts them into
// the program, so that they need no installation.
#pragma once

#include <filesystem>

#include "base/status.h"

namespace xlaprof {

// Writes the files to a folder, which PYTHONPATH must then name first.
absl::Status WriteHookFiles(const std::filesystem::path& folder);

}  // namespace xlaprof
