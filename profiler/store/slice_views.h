// The two steps of Store::Restrict.
#pragma once

#include "base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Returns the chosen part with its times narrowed to those of its steps (of its process, if it has
// one), because events have times only. If none of its steps has a time, the window that is
// returned contains nothing. Returns NotFound if there is no such process or step.
absl::StatusOr<Slice> WithTimesOfSteps(const Store& store, Slice slice);

// Makes temporary views with the tables' names, which show this connection only the rows in
// `slice`.
absl::Status MakeSliceViews(const Store& store, const Slice& slice);

}  // namespace xlaprof
