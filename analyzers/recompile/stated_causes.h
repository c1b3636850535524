// Why programs were compiled, where their source says so itself (table compile_reason).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <vector>

#include "analyzers/recompile/cause.h"

namespace xlaprof {

// By compile, in the order in which they are told. Reasons in words only have the type unknown and
// the words as their note.
absl::StatusOr<absl::flat_hash_map<int64_t, std::vector<RecompileCause>>> LoadSaidReasons(
    const Run& run);

}  // namespace xlaprof
