// The words that say on which ranks of a job a finding holds.
#pragma once

#include <optional>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Returns " (only on rank 1 of 2 ranks)" for the end of a title, and "" if it holds on all ranks or if
// that is not known.
std::string RanksText(const std::optional<OnlyRanks>& ranks);

}  // namespace xlaprof
