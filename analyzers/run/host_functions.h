// The user's Python functions that only the host runs, from profiles with Python's calls.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <span>
#include <string>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// The names of the calls ("$stream.py:12 augment") of functions in the user's code, in none of whose
// calls a thread traced, compiled or launched work, or began a step. They are sorted out by name,
// so a function that launches in one of its calls is in no call a function of the host alone.
struct HostFunctions {
  absl::flat_hash_set<StringId> names;

  // Returns the functions that `thread` calls. `launchers` are the threads whose launches count.
  static absl::StatusOr<HostFunctions> On(const Run& run, int64_t thread,
                                          std::span<const int64_t> launchers);
};

// Returns the user's function that is the innermost in most of these intervals, as far as `thread`
// recorded Python's calls; an empty place if there is none.
absl::StatusOr<SourcePlace> FunctionAround(const Run& run, int64_t thread,
                                           std::span<const Interval> intervals);

// Returns "augment (stream.py:12)" for the place of a function.
std::string FunctionText(const SourcePlace& place);

}  // namespace xlaprof
