// Adds a run's analysis to its timeline: findings with their marks, reasons and source lines, and
// where each step's time went (docs/formats/view.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/report/report.h"
#include "exporters/view/lanes.h"

namespace xlaprof {

// Returns the answer to `findings.json`. Source lines may be quoted from `source_roots`.
absl::StatusOr<std::string> FindingsJson(const Run& run, const ViewLanes& lanes,
                                         const Report& report,
                                         const std::vector<std::filesystem::path>& source_roots);

}  // namespace xlaprof
