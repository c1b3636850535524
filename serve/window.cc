#include "serve/window.h"

#include "exporters/exporter.h"
#include "profiler/record/current.h"

namespace xlaprof::serve {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<int64_t> Export(const fs::path& store_path, const Slice& slice,
                               const fs::path& file) {
  XP_TRY(Store store, Store::Open(store_path));
  if (!slice.empty()) XP_TRY(store.Restrict(slice));
  XP_TRY(Exported exported, FindExporter("xspace")->write(Run(store), {}, {.path = file}));
  return exported.event_count;
}

// Exports a window of a recording that somebody else started, and may end meanwhile.
absl::StatusOr<int64_t> OfCurrent(const CurrentRecording& begin, const fs::path& file,
                                  const std::function<absl::Status()>& wait) {
  XP_TRY(wait());
  Slice slice{.from_ns = begin.now_ns};
  auto end = CommitRecording();
  if (end.ok() && end->path == begin.path) {
    slice.to_ns = end->now_ns;
  } else if (!end.ok() && !absl::IsNotFound(end.status())) {
    return end.status();
  }
  return Export(begin.path, slice, file);
}

}  // namespace

absl::StatusOr<int64_t> CaptureWindow(const fs::path& folder, const fs::path& file,
                                      const std::function<absl::Status()>& wait) {
  // A recording may be started or ended between the question whether one runs and the next step.
  for (int tries = 0;; ++tries) {
    auto current = CommitRecording();
    if (current.ok()) return OfCurrent(*current, file, wait);
    if (!absl::IsNotFound(current.status())) return current.status();
    const fs::path path = folder / "window.xlaprof";
    auto recording = StartRecording(path);
    if (absl::IsFailedPrecondition(recording.status()) && tries < 3) continue;
    XP_TRY(recording.status());
    absl::Status waited = wait();
    XP_TRY(recording->Stop());
    XP_TRY(std::move(waited));
    return Export(path, {}, file);
  }
}

}  // namespace xlaprof::serve
