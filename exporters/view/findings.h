// What a run's timeline means: findings with their marks, reasons and lines at fault, and where each
// step's time went (docs/formats/view.md).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "analyzers/report/report.h"
#include "exporters/view/lanes.h"

namespace xlaprof {

// The answer to `findings.json`. `source_roots`: where source lines may be quoted from.
absl::StatusOr<std::string> FindingsJson(const Run& run, const ViewLanes& lanes,
                                         const Report& report,
                                         const std::vector<std::filesystem::path>& source_roots);

}  // namespace xlaprof
