// The compiles that come only from files whose end is missing.
#pragma once

#include <cstdint>
#include <set>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct CutCompiles {
  std::set<int64_t> ids;  // rows of table compile; a whole file shows none of them

  static absl::StatusOr<CutCompiles> Of(const Run& run);
};

}  // namespace xlaprof
