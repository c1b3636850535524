// Uses the recorder by the functions of <xlaprof/record.h>, so that the server in libxlaprof_serve
// records with the recorder of the program, which is in libxlaprof_record. Internal to serve.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "base/status.h"
#include "include/xlaprof/record.h"

namespace xlaprof::serve {

struct Recorded {
  std::filesystem::path path;
  int64_t now_ns = 0;  // in the store's time
  xlaprof_stats stats{};
};

// Commits the recording that runs in this process, and copies it to the new file `copy` if that is
// not empty. Returns nothing if none runs.
absl::StatusOr<std::optional<Recorded>> Commit(const std::filesystem::path& copy = {});

// A recording of the server's own.
class OwnRecording {
 public:
  // Returns an error if another recording runs.
  static absl::StatusOr<OwnRecording> Start(const std::filesystem::path& path);
  // Ends it, and returns the number of its events.
  absl::StatusOr<int64_t> Stop();

 private:
  struct Stopper {
    void operator()(xlaprof_recording* recording) const { xlaprof_stop(recording, nullptr); }
  };
  std::unique_ptr<xlaprof_recording, Stopper> recording_;
};

}  // namespace xlaprof::serve
