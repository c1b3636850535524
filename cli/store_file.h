// Writes a run and its findings to a new store file, for import and capture.
#pragma once

#include <functional>
#include <string>

#include "analyzers/finding.h"
#include "base/status.h"
#include "cli/output.h"
#include "profiler/import/import.h"

namespace xlaprof {

// Adds the findings, in their order, to the table `finding` of a database of the connection, which
// is "main" or "temp".
absl::Status InsertFindings(const Findings& findings, std::string_view database, Store& store);

// Imports `inputs` into a new store, the output. Calls `finish` after the import and before the
// analysis. Returns a line to print that says what was kept.
absl::StatusOr<std::string> WriteStoreFile(
    ImportOptions inputs, Output& output,
    const std::function<absl::Status(Store&)>& finish = [](Store&) { return absl::OkStatus(); });

}  // namespace xlaprof
