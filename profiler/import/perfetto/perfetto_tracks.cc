#include "profiler/import/perfetto/perfetto_tracks.h"

#include <algorithm>

namespace xlaprof::pftrace {

void Slice::Clear() {
  std::vector<Argument> room = std::move(args);
  room.clear();
  *this = {};
  args = std::move(room);
}

absl::Status TrackSlices::Add(Slice& slice, OddInput& odd, const Emit& emit) {
  if (slice.type == EventType::kEnd) return End(slice, odd, emit);
  if (slice.type != EventType::kBegin) return emit(slice);
  if (size_ == kMaxOpen) {
    ++too_deep_;
    odd.Count(
        "deep_nesting", Severity::kWarning,
        fmt::format(
            "More than {} events of one track are open at once. The ends of further ones were not looked for, so their duration is unknown.",
            kMaxOpen),
        slice.offset);
    slice.dur_ns = kUnknownDuration;
    return emit(slice);
  }
  if (size_ == open_.size()) open_.emplace_back();
  std::swap(open_[size_++], slice);
  return absl::OkStatus();
}

absl::Status TrackSlices::End(Slice& end, OddInput& odd, const Emit& emit) {
  if (too_deep_ > 0) {
    --too_deep_;
    return absl::OkStatus();
  }
  size_t at = size_;
  const size_t last = size_ - std::min(size_, kMaxSearched);
  if (end.has_name) {
    while (at > last && (open_[at - 1].has_ended || open_[at - 1].name != end.name)) --at;
    if (at == last) at = 0;
  }
  if (at == 0) {
    odd.Count(
        "end_without_begin", Severity::kWarning,
        "Ends of events that never began were left out: the trace starts after those events began, or begin and end have different names.",
        end.offset);
    return absl::OkStatus();
  }
  Slice& slice = open_[at - 1];
  slice.dur_ns = std::max<int64_t>(0, end.ts_ns - slice.ts_ns);
  if (slice.flow_in == 0) slice.flow_in = end.flow_in;
  if (slice.flow_out == 0) slice.flow_out = end.flow_out;
  for (const Argument& arg : end.args) {
    if (std::ranges::none_of(slice.args, [&](const Argument& a) { return a.key == arg.key; }))
      slice.args.push_back(arg);
  }
  slice.has_ended = true;
  const absl::Status status = emit(slice);
  while (size_ > 0 && open_[size_ - 1].has_ended) open_[--size_].Clear();
  return status;
}

absl::Status TrackSlices::Finish(OddInput& odd, const Emit& emit) {
  std::stable_sort(kept_.begin(), kept_.end(),
                   [](const Slice& a, const Slice& b) { return a.ts_ns < b.ts_ns; });
  for (Slice& slice : kept_) XP_TRY(Add(slice, odd, emit));
  kept_ = {};
  for (Slice& slice : std::span(open_).first(size_)) {
    if (slice.has_ended) continue;
    odd.Count(
        "never_ended", Severity::kInfo,
        "Events have a beginning but no end, because the trace stops before it or the end was lost. Their duration is unknown.",
        slice.offset);
    slice.dur_ns = kUnknownDuration;
    XP_TRY(emit(slice));
  }
  size_ = 0;
  open_ = {};
  return absl::OkStatus();
}

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
