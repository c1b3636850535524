// Finds for the tracks of a Perfetto trace, which have uuids and parents, what they are in a store:
// threads, asynchronous operations, or counters.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "profiler/import/perfetto/perfetto_survey.h"
#include "profiler/import/trace/trace_tracks.h"

namespace xlaprof::pftrace {

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
