// Finds the present path of a file that was moved while this process has it mapped. A mapping says
// it reliably, because the program cannot give it to another file as it can a descriptor's number.
// Internal to profiler/record.
#pragma once

#include <filesystem>

#include "base/descriptor.h"

namespace xlaprof::record {

// Returns the path of the file with this identity. Returns "" if this process has not mapped it, or
// if it was removed.
std::filesystem::path MappedPath(const FileIdentity& identity);

}  // namespace xlaprof::record
