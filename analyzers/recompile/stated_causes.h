// The reasons that a source itself gives for a compile (table compile_reason).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <vector>

#include "analyzers/recompile/cause.h"

namespace xlaprof {

// Reasons in words only have the type unknown and the words as their note.
struct StatedCauses {
  absl::flat_hash_map<int64_t, std::vector<RecompileCause>>
      by_compile;  // as the source orders them

  static absl::StatusOr<StatedCauses> Of(const Run& run);
};

}  // namespace xlaprof
