// A run and its findings in a store file of its own: what import and capture end in.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "core/base/status.h"
#include "profiler/import/import.h"

namespace xlaprof {

// What may be replaced, where `force`: a store of ours, never the capture that is being read.
absl::Status CheckStoreOutput(const std::filesystem::path& output, bool force);

// Whether a file can be made in the folder of `output`, found out by making one.
absl::Status CheckWritable(const std::filesystem::path& output);

// Imports `inputs` into a new store `output`, which is there only when it is whole, with `finish`
// called between, and says in a line what was kept: to be printed.
absl::StatusOr<std::string> WriteStoreFile(
    ImportOptions inputs, const std::filesystem::path& output, bool force,
    const std::function<absl::Status(Store&)>& finish = [](Store&) { return absl::OkStatus(); });

}  // namespace xlaprof
