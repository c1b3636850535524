// Writes a run and its findings to a new store file, for import and capture.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "analyzers/finding.h"
#include "core/base/status.h"
#include "profiler/import/import.h"

namespace xlaprof {

// Checks that `output` does not exist, or may be replaced. With `force`, an existing xlaprof store
// may be replaced, but no other file.
absl::Status CheckStoreOutput(const std::filesystem::path& output, bool force);

// Checks that a file can be created in the directory of `output`, by creating one.
absl::Status CheckWritable(const std::filesystem::path& output);

// Adds the findings, in their order, to the table `finding` of a database of the connection, which
// is "main" or "temp".
absl::Status InsertFindings(const Findings& findings, std::string_view database, Store& store);

// Imports `inputs` into a new store `output`, which appears only when it is complete. Calls
// `finish` after the import and before the analysis. Returns a line to print that says what was
// kept.
absl::StatusOr<std::string> WriteStoreFile(
    ImportOptions inputs, const std::filesystem::path& output, bool force,
    const std::function<absl::Status(Store&)>& finish = [](Store&) { return absl::OkStatus(); });

}  // namespace xlaprof
