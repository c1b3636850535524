// Unites the steps that the user's scopes show (XLAPROF_STEP) with those that the lazy runtime's
// step marks show, which are the same steps.
#pragma once

#include "profiler/store/store.h"

namespace xlaprof::record {

// Leaves each step of a process once, when its recording ends. A scope around one or a few marks is
// a step of the user, so the marks inside it are not steps of their own. A scope around a loop of
// marks is not a step.
absl::Status UniteSteps(Store& store, int64_t process_id);

}  // namespace xlaprof::record
