// What Store::Restrict consists of.
#pragma once

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The slice with the window of its steps, where they have one: events have times only. NotFound:
// there is no such process or step.
absl::StatusOr<Slice> WithTimesOfSteps(const Store& store, Slice slice);

// Temporary views of the tables' names that show what lies in `slice`, to this connection.
absl::Status MakeSliceViews(const Store& store, const Slice& slice);

}  // namespace xlaprof
