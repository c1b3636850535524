// The tracks of a Perfetto trace: what they are in a store, and the slices on them.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "profiler/import/odd_input.h"
#include "profiler/import/perfetto/perfetto_survey.h"
#include "profiler/import/perfetto/perfetto_wire.h"
#include "profiler/import/trace/trace_tracks.h"
#include "profiler/store/events.h"

namespace xlaprof::pftrace {

// One event of a track, or what is known of it so far. Times are those of the store.
struct Slice {
  EventType type = EventType::kNone;
  bool has_name = false, has_ended = false;
  int64_t ts_ns = 0, dur_ns = 0;
  StringId name = 0, cat = 0;
  uint64_t flow_in = 0, flow_out = 0;
  int64_t offset = 0;
  std::vector<Argument> args;

  // Makes it as if new, with the same room for arguments.
  void Clear();
};

// Makes slices of the beginnings and ends on one track of a Perfetto trace. An end belongs to the
// last beginning without one; if it has a name, to the last of that name.
class TrackSlices {
 public:
  using Emit = std::function<absl::Status(const Slice&)>;

  // Takes the next event in the order of time: a beginning, an end or an instant. Calls `emit` with
  // each event that is complete. `slice` is used up; its memory may be reused.
  absl::Status Add(Slice& slice, OddInput& odd, const Emit& emit);
  // Keeps an event of a track whose events are out of order, for Finish.
  void Keep(const Slice& slice) { kept_.push_back(slice); }
  // Takes all events that were kept, in order. What has not ended has an unknown duration.
  absl::Status Finish(OddInput& odd, const Emit& emit);

 private:
  // Deeper slices are damage: they would cost memory, and time to find their ends.
  static constexpr size_t kMaxOpen = 4096;
  // A named end is looked for in so many slices.
  static constexpr size_t kMaxSearched = 64;

  absl::Status End(Slice& end, OddInput& odd, const Emit& emit);

  std::vector<Slice> open_;  // the first `size_`; the others are memory to reuse
  size_t size_ = 0;
  int64_t too_deep_ = 0;  // open slices beyond kMaxOpen
  std::vector<Slice> kept_;
};

// What a track is in the store.
struct TrackPlace {
  const TrackInfo* info = nullptr;
  // The track holds xlaprof's own additions, which are found again.
  bool is_own = false;
  TraceProcess* process = nullptr;
  TraceTrack* track = nullptr;  // a thread; null: asynchronous operations, or a counter
  std::string name;             // that of an asynchronous track or a counter
  int64_t track_id = 0;         // row; 0: none yet
};

// Finds for the tracks of a Perfetto trace, which have uuids and parents, what they are in a store:
// threads, asynchronous operations, or counters.
class PerfettoTracks {
 public:
  // Both must outlive this object.
  PerfettoTracks(const Survey& survey, TraceTracks& tracks) : survey_(survey), tracks_(tracks) {}

  // Returns the place of a track, without a row. The track must be one of the survey.
  TrackPlace PlaceOf(uint64_t uuid);
  // Gives a place its row, unless it has one.
  absl::Status MakeRow(TrackPlace& place);

 private:
  TraceProcess* ProcessOf(OptInt pid);
  TraceTrack* ThreadOf(const TrackInfo& info);

  const Survey& survey_;
  TraceTracks& tracks_;
  std::map<OptInt, TraceProcess*> processes_;  // by pid; the one without holds what has no process
  std::map<std::pair<int64_t, int64_t>, TraceTrack*> threads_;  // by pid and tid
};

}  // namespace xlaprof::pftrace
