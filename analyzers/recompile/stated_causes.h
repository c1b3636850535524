// The reasons that a source states for a compile (table compile_reason).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <vector>

#include "analyzers/recompile/cause.h"

namespace xlaprof {

// A reason that is only a text has the type unknown, and the text as its note.
struct StatedCauses {
  absl::flat_hash_map<int64_t, std::vector<RecompileCause>>
      by_compile;  // in the order of the source

  static absl::StatusOr<StatedCauses> Of(const Run& run);
};

}  // namespace xlaprof
