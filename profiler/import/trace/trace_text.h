// Gives ids to the texts of a trace.
#pragma once

#include <string_view>

#include "profiler/import/odd_input.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Longer texts are cut here, and counted.
inline constexpr size_t kMaxTraceTextBytes = size_t(1) << 20;

// Returns the id of a text in the store. Cuts it if it is long, repairs it to UTF-8, and counts
// that. `offset` is its place in the source.
absl::StatusOr<StringId> InternTraceText(Store& store, std::string_view text, int64_t offset,
                                         OddInput& odd);

}  // namespace xlaprof
