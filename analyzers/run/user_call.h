// Finds the lines that call compiled programs, and in a profile with Python's calls those of JAX's
// functions and the user's function that was running at a time.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// Returns the names of the events that are calls of this function of JAX.
absl::StatusOr<absl::flat_hash_set<StringId>> NamesOfJaxCalls(const Store& store,
                                                              std::string_view function);

// Returns the innermost call of the user's code on a track that contains the time, with the line of
// its definition; an empty place if there is none.
absl::StatusOr<SourcePlace> UserCallAt(const Run& run, int64_t track_id, int64_t ts_ns);

// Returns the jitted function whose call on a track contains the time, such as step for
// PjitFunction(step); "" if there is none.
absl::StatusOr<std::string> JaxFunctionAt(const Run& run, int64_t track_id, int64_t ts_ns);

// Returns the line of a graph's compilation, or else of its executions, with the graph's hash. If none
// has a line, returns that of CallByName. The subject has no line if no source shows one.
absl::StatusOr<Subject> CallOf(const Run& run, int64_t graph_id);

// Returns the line that calls all functions of this name that JAX compiled, whether the log that names
// them was joined with the rest or not. Returns an empty subject if there are none or several such
// lines.
absl::StatusOr<Subject> CallByName(const Run& run, std::string_view function);

}  // namespace xlaprof
