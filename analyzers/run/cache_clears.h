// Finds calls that clear JAX's caches (jax.clear_caches), which a profile with Python's calls
// contains. Each program is compiled again after such a call.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

struct CacheClears {
  std::vector<int64_t> starts_ns;  // sorted
  SourcePlace caller;  // the user's function that made the first of these calls; may be empty

  // Returns whether a call lies between two times.
  bool AnyBetween(int64_t from_ns, int64_t to_ns) const;

  static absl::StatusOr<CacheClears> Of(const Run& run);
};

}  // namespace xlaprof
