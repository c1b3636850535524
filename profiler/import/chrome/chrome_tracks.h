// Finds the tracks of a Chrome trace, which its events name by `pid` and `tid`.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "profiler/import/chrome/chrome_event.h"
#include "profiler/import/trace/trace_tracks.h"

namespace xlaprof {

class ChromeTracks {
 public:
  // `tracks` must outlive this object.
  explicit ChromeTracks(TraceTracks& tracks) : tracks_(tracks) {}

  // Returns the track of an event's pid and tid, which has a row. Valid as long as `tracks`.
  absl::StatusOr<TraceTrack*> Of(const ChromeEvent& event) {
    const uint32_t numbers = NumbersOf(event);
    const Recent& recent = recent_[PlaceOf(numbers)];
    if (recent.track != nullptr && recent.numbers == numbers && recent.track->id != 0) [[likely]]
      return recent.track;
    TraceTrack* track = TrackOf(event);
    XP_TRY(tracks_.MakeRow(*track));
    return track;
  }
  absl::StatusOr<int64_t> Counter(const ChromeEvent& event, const std::string& name) {
    return tracks_.Counter(*ProcessOf(event.pid), name);
  }
  // Returns the track of asynchronous events called `name` in the event's process.
  absl::StatusOr<int64_t> Async(const ChromeEvent& event, const std::string& name) {
    return tracks_.Async(*ProcessOf(event.pid), name);
  }
  // Takes a metadata event (phase M). Returns false if its kind is not known.
  bool TakeMetadata(const ChromeEvent& event);

 private:
  using Key = std::pair<std::string_view, std::string_view>;

  TraceProcess* ProcessOf(const json::Value& pid);
  TraceTrack* TrackOf(const ChromeEvent& event);

  TraceTracks& tracks_;
  absl::flat_hash_map<std::string_view, TraceProcess*> process_of_;
  absl::flat_hash_map<Key, TraceTrack*> track_of_;
  // Threads take turns, so a few are remembered, by the numbers of the texts of pid and tid.
  struct Recent {
    uint32_t numbers = 0;
    TraceTrack* track = nullptr;
  };
  // Without a tid the process is its own thread, as in Perfetto.
  static const json::Value& TidOf(const ChromeEvent& event) {
    return event.tid.kind() == json::Kind::kNone ? event.pid : event.tid;
  }
  static uint32_t NumbersOf(const ChromeEvent& event) {
    return uint32_t(event.pid.number()) << 16 | TidOf(event).number();
  }
  size_t PlaceOf(uint32_t numbers) const { return (numbers >> 16 ^ numbers) % recent_.size(); }
  std::array<Recent, 64> recent_{};
};

}  // namespace xlaprof
