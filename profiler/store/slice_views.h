// What Store::Restrict consists of.
#pragma once

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The slice with the window of its steps (of its process, where it has one): events have times
// only. Of steps outside of what has times: a window in which nothing lies. NotFound: there is no
// such process or step.
absl::StatusOr<Slice> WithTimesOfSteps(const Store& store, Slice slice);

// Temporary views of the tables' names that show what lies in `slice`, to this connection.
absl::Status MakeSliceViews(const Store& store, const Slice& slice);

}  // namespace xlaprof
