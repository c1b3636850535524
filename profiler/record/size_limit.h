// Handles the largest file size that this process may write (ulimit -f). Beyond it the kernel not
// only refuses a write, but ends the process by a signal. Internal to profiler/record.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <filesystem>

#include "base/status.h"

namespace xlaprof::record {

// Returns ResourceExhausted, naming the limit, if the file at `path` may not grow to `bytes`.
absl::Status CheckSizeLimit(const std::filesystem::path& path, off_t bytes);

// While it lives, a write of this thread beyond the limit fails instead of raising a signal.
class NoSizeSignal {
 public:
  NoSizeSignal();
  ~NoSizeSignal();
  NoSizeSignal(const NoSizeSignal&) = delete;

 private:
  sigset_t before_;
};

}  // namespace xlaprof::record
