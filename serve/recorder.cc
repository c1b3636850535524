#include "serve/recorder.h"

namespace xlaprof::serve {

absl::StatusOr<std::optional<Recorded>> Commit(const std::filesystem::path& copy) {
  xlaprof_current current{};
  current.struct_bytes = sizeof current;
  const int result = xlaprof_commit(copy.empty() ? nullptr : copy.c_str(), &current);
  if (result > 0) return std::optional<Recorded>();
  if (result < 0) return absl::UnavailableError(xlaprof_error());
  return Recorded{current.path, current.now_ns, current.stats};
}

absl::StatusOr<OwnRecording> OwnRecording::Start(const std::filesystem::path& path) {
  OwnRecording own;
  own.recording_.reset(xlaprof_start(path.c_str(), nullptr));
  if (own.recording_ == nullptr) return absl::UnavailableError(xlaprof_error());
  return own;
}

absl::StatusOr<int64_t> OwnRecording::Stop() {
  xlaprof_stats stats{};
  stats.struct_bytes = sizeof stats;
  if (xlaprof_stop(recording_.release(), &stats) != 0)
    return absl::UnavailableError(xlaprof_error());
  return stats.events;
}

}  // namespace xlaprof::serve
