#include "serve/window.h"

#include "exporters/exporter.h"
#include "serve/recorder.h"

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
absl::StatusOr<int64_t> OfCurrent(const Recorded& begin, const fs::path& folder,
                                  const fs::path& file, const std::function<absl::Status()>& wait) {
  XP_TRY(wait());
  Slice slice{.from_ns = begin.now_ns};
  const fs::path copy = folder / "copy.xlaprof";
  XP_TRY(const std::optional<Recorded> end, Commit(copy));
  if (!end || end->path != begin.path) return Export(begin.path, slice, file);
  slice.to_ns = end->now_ns;
  return Export(copy, slice, file);
}

}  // namespace

absl::StatusOr<int64_t> CaptureWindow(const fs::path& folder, const fs::path& file,
                                      const std::function<absl::Status()>& wait) {
  // A recording may be started or ended between the question whether one runs and the next step.
  for (int tries = 0;; ++tries) {
    XP_TRY(const std::optional<Recorded> current, Commit());
    if (current) return OfCurrent(*current, folder, file, wait);
    const fs::path path = folder / "window.xlaprof";
    auto recording = OwnRecording::Start(path);
    if (!recording.ok() && tries < 3) continue;
    XP_TRY(recording.status());
    absl::Status waited = wait();
    XP_TRY(recording->Stop());
    XP_TRY(std::move(waited));
    return Export(path, {}, file);
  }
}

}  // namespace xlaprof::serve
