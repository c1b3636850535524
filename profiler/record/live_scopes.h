// Reads which scopes are open in a process that is being recorded, without disturbing it.
#pragma once

#include <filesystem>
#include <vector>

#include "base/status.h"
#include "profiler/store/open_scope.h"

namespace xlaprof {

struct LiveScopes {
  int64_t pid = 0;  // of the recorded process, as it knows itself; others may have the file open
  std::vector<OpenThread> threads;  // those with open scopes, the main thread first
};

// Reads the ring of a running recording. `ring` may be a link of /proc/PID/fd. Takes no lock, maps
// nothing and writes nothing. Of a thread that begins and ends scopes meanwhile, some may be
// missing. Returns DataLoss if the file is not a ring, or if its header is damaged.
absl::StatusOr<LiveScopes> ReadLiveScopes(const std::filesystem::path& ring);

}  // namespace xlaprof
