// Opens the shared library of a plugin. It does not need PJRT's header.
#pragma once

#include <string>

#include "base/status.h"

namespace xlaprof::lazy::pjrt {

// Loads the plugin at `path` and returns the address of its function GetPjrtApi. The plugin stays
// loaded until the process ends, because its threads run until then. An error says what is wrong
// with the file.
absl::StatusOr<void*> OpenPlugin(const std::string& path);

}  // namespace xlaprof::lazy::pjrt
