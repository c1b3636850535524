#include "profiler/import/perfetto/perfetto_tracks.h"

namespace xlaprof::pftrace {
namespace {

// A track that is deeper than this, or is its own ancestor, belongs to no process.
constexpr int kMaxAncestors = 32;

}  // namespace

TraceProcess* PerfettoTracks::ProcessOf(OptInt pid) {
  TraceProcess*& process = processes_[pid];
  if (process == nullptr) {
    process = tracks_.AddProcess();
    process->pid = pid;
    if (pid) {
      process->labels = survey_.ProcessLabels(*pid);
      tracks_.Name(*process, survey_.ProcessName(*pid));
    }
  }
  return process;
}

TraceTrack* PerfettoTracks::ThreadOf(const TrackInfo& info) {
  TraceTrack*& track = threads_[{info.pid, info.tid}];
  if (track == nullptr) {
    track = tracks_.AddTrack(ProcessOf(info.pid));
    track->tid = info.tid;
    if (info.rank != 0) track->sort = info.rank;
  }
  if (!info.name.empty()) TraceTracks::Name(*track, info.name);
  return track;
}

TrackPlace PerfettoTracks::PlaceOf(uint64_t uuid) {
  const TrackInfo* info = survey_.Track(uuid);
  TrackPlace place{.info = info};
  if (info->is_thread && !info->is_counter) {
    place.track = ThreadOf(*info);
    place.process = place.track->process;
    return place;
  }
  // The names of the tracks below the process or thread are the path to this one.
  const TrackInfo* thread = nullptr;
  const TrackInfo* process = nullptr;
  const TrackInfo* at = info;
  for (int i = 0; at != nullptr && i < kMaxAncestors; ++i) {
    if (at->is_process || at->is_thread) {
      (at->is_thread ? thread : process) = at;
      break;
    }
    if (at->name == kOwnGroup && survey_.writer() == TraceWriter::kXlaprof) place.is_own = true;
    if (!at->name.empty())
      place.name = place.name.empty() ? at->name : at->name + " / " + place.name;
    at = at->has_parent ? survey_.Track(at->parent) : nullptr;
  }
  if (thread != nullptr) {
    // Our own export divides a thread whose events overlap.
    if (survey_.writer() == TraceWriter::kXlaprof && !info->is_counter) {
      place.track = ThreadOf(*thread);
      place.process = place.track->process;
      return place;
    }
    if (!thread->name.empty())
      place.name = place.name.empty() ? thread->name : thread->name + " / " + place.name;
  }
  const TrackInfo* owner = thread != nullptr ? thread : process;
  place.process = owner == nullptr ? ProcessOf({}) : ProcessOf(owner->pid);
  if (place.name.empty()) {
    place.name = info->is_process ? "process"
                 : uuid == 0      ? "events"
                                  : fmt::format("track {:x}", uuid);
  }
  const bool has_unit = place.name.ends_with(')') || info->unit.empty();
  if (info->is_counter && !has_unit) place.name += fmt::format(" ({})", info->unit);
  return place;
}

absl::Status PerfettoTracks::MakeRow(TrackPlace& place) {
  if (place.track_id != 0) return absl::OkStatus();
  if (place.track != nullptr) {
    XP_TRY(tracks_.MakeRow(*place.track));
    place.track_id = place.track->id;
  } else if (place.info->is_counter) {
    XP_TRY(place.track_id, tracks_.Counter(*place.process, place.name));
  } else {
    XP_TRY(place.track_id, tracks_.Async(*place.process, place.name));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof::pftrace
