// Reads what torch_xla writes about itself as text: PT_XLA_DEBUG output and metrics reports, alone
// or together in one log.
#pragma once

#include "profiler/import/importer.h"

namespace xlaprof {

struct RuntimeTextCounts {
  int64_t debug_facts = 0, metric_entries = 0;  // numbers of those that were read
  int64_t lines = 0;                            // number of lines that were read
};

// Writes everything of both kinds that `input` holds. Returns an error status only if the store
// cannot be written.
absl::StatusOr<RuntimeTextCounts> ReadRuntimeText(const Input& input, ImportContext& context);

}  // namespace xlaprof
