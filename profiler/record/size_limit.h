// The largest file that this process may write (ulimit -f): beyond it the kernel does not only
// refuse, it ends the process by a signal. Internal to profiler/record.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>

#include "core/base/status.h"

namespace xlaprof::record {

// ResourceExhausted, naming the limit, where the file at `path` may not grow to `bytes`.
absl::Status CheckSizeLimit(const std::filesystem::path& path, off_t bytes);

// While it lives, a write of this thread beyond the limit fails, and is no signal.
class NoSizeSignal {
 public:
  NoSizeSignal();
  ~NoSizeSignal();
  NoSizeSignal(const NoSizeSignal&) = delete;

 private:
  sigset_t before_;
};

}  // namespace xlaprof::record
