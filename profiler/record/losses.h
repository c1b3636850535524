// Internal to profiler/record.
#pragma once

#include "profiler/store/store.h"

namespace xlaprof::record {

// Tells in import_issue what the threads of a recording dropped.
absl::Status TellLosses(Store& store, int64_t recording_id);
// Makes the store one file, unless somebody is reading it: then its log stays beside it.
absl::Status CloseLog(Store& store);

}  // namespace xlaprof::record
