// The places of the user's scopes and functions.
#pragma once

#include "analyzers/finding.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Sets what the activity has a name of: scope or step, or function, and its file and line if they
// are known. Sets nothing if it has no name. Returns whether file and line are known.
absl::StatusOr<bool> FillUserCode(const Run& run, const Activity& activity, Subject& subject);

// Sets file and line of `subject` to the only place that opens scopes of this name. If it was not
// recorded, or there are several places, returns false and sets nothing. Only programs that record
// themselves record places of scopes.
absl::StatusOr<bool> FillScopePlace(const Run& run, StringId scope, Subject& subject);

}  // namespace xlaprof
