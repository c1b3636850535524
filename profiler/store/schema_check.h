// Checks whether a file that was opened is a store as this version writes it.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Returns Unimplemented, with what to do, if the store at `path` has the schema `version` of another
// build. A file without a version, and one with a negative version, is left to CheckSchema.
absl::Status CheckSchemaVersion(const std::string& path, int64_t version);

// Returns InvalidArgument, with what to do, unless `store` has each of our tables as a plain table
// with exactly our columns. Other tables may be in the file too.
absl::Status CheckSchema(const Store& store);

}  // namespace xlaprof
