// The places at which programs that record themselves opened their scopes.
#pragma once

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// Sets file and line of `subject` to the only place that opens scopes of this name. If it was not
// recorded, or there are several places, returns false and sets nothing.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject);

}  // namespace xlaprof
