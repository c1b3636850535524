// The places at which programs that record themselves opened their scopes.
#pragma once

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

// Sets file and line of `subject` to the one place that opens scopes of this name; false, and
// nothing is set, where it was not recorded or where there are several.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject);

}  // namespace xlaprof
