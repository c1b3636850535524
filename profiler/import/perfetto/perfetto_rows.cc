#include "profiler/import/perfetto/perfetto_rows.h"

#include <algorithm>

namespace xlaprof::pftrace {
namespace {

// Returns what a packet of another kind holds, by its field in TracePacket.
std::string_view DataName(uint32_t field) {
  switch (field) {
    case 1:
      return "ftrace";
    case 2:
    case 9:
    case 43:
      return "lists of processes";
    case 5:
      return "Chrome's old events";
    case 7:
      return "counters of the system";
    case 37:
    case 74:
      return "heap profiles";
    case 53:
      return "GPU render stages";
    case 66:
      return "samples of perf";
    default:
      return "other data";
  }
}

}  // namespace

PerfettoRows::PerfettoRows(ImportContext& context, Survey& survey, int64_t shift_ns, OddInput& odd)
    : context_(context),
      survey_(survey),
      shift_ns_(shift_ns),
      odd_(odd),
      rows_(context, survey.writer()),
      places_(survey, rows_.tracks()),
      texts_(context.store, odd) {}

absl::Status PerfettoRows::Take(const Packet& packet, int64_t offset) {
  Sequence& sequence = sequences_[packet.sequence];
  if (sequence.Take(packet)) {
    odd_.Count(
        "lost_packets", Severity::kWarning,
        "The recorder lost packets because its buffer was full or overwritten. Some events are missing or have no end. Record with a larger buffer.",
        offset);
  }
  if (packet.other != 0) CountOther(packet.other, offset);
  if (!packet.snapshot.empty())
    readings_.Read(packet.snapshot, packet.sequence, [](ClockKey, int64_t) {});
  if (!packet.interned.empty()) XP_TRY(TakeTexts(packet, sequence, offset));
  if (!packet.event.empty()) return TakeEvent(packet, sequence, offset);
  if (packet.snapshot.empty()) MomentOf(packet, nullptr, sequence, readings_);
  return absl::OkStatus();
}

absl::Status PerfettoRows::TakeTexts(const Packet& packet, Sequence& sequence, int64_t offset) {
  return EachText(packet.interned, [&](Texts kind, uint64_t iid, std::string_view text) {
    auto id = texts_.Of(text, offset);
    if (id.ok()) sequence.texts[size_t(kind)].Set(iid, *id);
    return id.status();
  });
}

void PerfettoRows::CountOther(uint32_t field, int64_t offset) {
  if (other_.empty()) first_other_ = offset;
  ++other_[field];
}

std::optional<int64_t> PerfettoRows::StoreTime(const std::optional<Moment>& moment,
                                               int64_t offset) {
  if (!moment) {
    odd_.Count("event_without_time", Severity::kWarning,
               "Events without a time, or with an impossible one, were left out.", offset);
    return {};
  }
  const std::optional<int64_t> ns = survey_.clocks().ToTrace(moment->clock, moment->ns);
  if (!ns) {
    odd_.Count(
        "unknown_clock", Severity::kWarning,
        "Events have times by a clock that no clock snapshot relates to that of the other events. They were left out.",
        offset);
    return {};
  }
  int64_t ts_ns = 0;
  if (!__builtin_add_overflow(*ns, shift_ns_, &ts_ns) && ts_ns >= -kMaxTraceTimeNs &&
      ts_ns <= kMaxTraceTimeNs)
    return ts_ns;
  odd_.Count("time_out_of_range", Severity::kWarning,
             "Events with impossible times (decades away) were left out.", offset);
  return {};
}

absl::StatusOr<StringId> PerfettoRows::TextOf(const Sequence& sequence, Texts kind, uint64_t iid,
                                              int64_t offset) {
  StringId id = sequence.texts[size_t(kind)].Find(iid);
  if (id == 0) {
    odd_.Count(
        "missing_text", Severity::kWarning,
        "Events refer to names or categories that the file does not have. The packet with the text was lost.",
        offset);
    XP_TRY(id, context_.store.Intern(""));
  }
  return id;
}

absl::Status PerfettoRows::TakeName(const Sequence& sequence, int64_t offset) {
  if (event_.has_name) {
    XP_TRY(slice_.name, texts_.Of(event_.name, offset));
    slice_.has_name = true;
  } else if (event_.name_iid != 0) {
    XP_TRY(slice_.name, TextOf(sequence, Texts::kNames, event_.name_iid, offset));
    slice_.has_name = true;
  } else {
    XP_TRY(slice_.name, context_.store.Intern(""));
  }
  return absl::OkStatus();
}

absl::Status PerfettoRows::TakeCategories(const Sequence& sequence, int64_t offset) {
  const size_t count = event_.category_iids.size() + event_.categories.size();
  if (count == 0) return absl::OkStatus();
  if (count == 1 && event_.categories.empty()) {
    XP_TRY(slice_.cat, TextOf(sequence, Texts::kCategories, event_.category_iids[0], offset));
  } else if (count == 1) {
    XP_TRY(slice_.cat, texts_.Of(event_.categories[0], offset));
  } else {
    joined_.clear();
    auto add = [&](std::string_view category) {
      if (!joined_.empty()) joined_ += ',';
      joined_ += category;
    };
    for (const uint64_t iid : event_.category_iids) {
      XP_TRY(const StringId id, TextOf(sequence, Texts::kCategories, iid, offset));
      add(context_.store.Text(id));
    }
    for (const std::string_view category : event_.categories) add(category);
    XP_TRY(slice_.cat, texts_.Of(joined_, offset));
  }
  if (context_.store.Text(slice_.cat).empty()) slice_.cat = 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> PerfettoRows::TakeType(const Sequence& sequence, int64_t offset) {
  slice_.type = event_.type;
  if (event_.type != EventType::kNone) return true;
  if (event_.unknown_type != 0) {
    odd_.Count(
        "unknown_event_type", Severity::kWarning,
        "Events of a type that is unknown here were left out. The trace may come from a newer Perfetto.",
        offset);
    return false;
  }
  // Chrome's tracing writes the phases of its JSON.
  LegacyEvent legacy;
  if (event_.has_legacy) Decode(event_.legacy, &legacy);
  if (event_.name_iid == 0 && !event_.has_name && legacy.name_iid != 0)
    event_.name_iid = legacy.name_iid;
  switch (legacy.phase) {
    case 'B':
      slice_.type = EventType::kBegin;
      return true;
    case 'E':
      slice_.type = EventType::kEnd;
      return true;
    case 'X': {
      // A complete event is an instant with a length.
      slice_.type = EventType::kInstant;
      const bool is_sane = legacy.duration_us >= 0 && legacy.duration_us <= kMaxTraceTimeNs / 1000;
      slice_.dur_ns = is_sane ? legacy.duration_us * 1000 : kUnknownDuration;
      return true;
    }
    case 'i':
    case 'I':
    case 'R':
      slice_.type = EventType::kInstant;
      return true;
    default:
      odd_.Count(
          "phase_not_read", Severity::kInfo,
          "Events that Chrome writes with phases of its old format (asynchronous events, flows, objects, samples), or that have no type, were left out.",
          offset);
      return false;
  }
}

absl::StatusOr<PerfettoRows::Track*> PerfettoRows::TrackOfUuid(uint64_t uuid, int64_t offset) {
  if (last_track_ != nullptr && last_track_->place.info->uuid == uuid) [[likely]]
    return last_track_;
  std::unique_ptr<Track>& track = tracks_[uuid];
  if (track == nullptr) {
    track = std::make_unique<Track>();
    track->place = places_.PlaceOf(uuid);
    if (!track->place.info->described && uuid != 0) {
      odd_.Count(
          "unknown_track", Severity::kInfo,
          "Events are on tracks that the file does not describe, so their process and thread are unknown.",
          offset);
    }
  }
  last_track_ = track.get();
  if (!track->place.is_own) XP_TRY(places_.MakeRow(track->place));
  return last_track_;
}

absl::Status PerfettoRows::AddSample(uint64_t uuid, int64_t ts_ns, double value, int64_t offset) {
  if (survey_.Track(uuid) == nullptr || !survey_.Track(uuid)->is_counter) {
    odd_.Count(
        "sample_without_counter", Severity::kWarning,
        "Values are on tracks that the file does not describe as counters. They were left out.",
        offset);
    return absl::OkStatus();
  }
  XP_TRY(Track * track, TrackOfUuid(uuid, offset));
  const TrackInfo& info = *track->place.info;
  value *= double(info.multiplier);
  if (info.incremental) value = track->value += value;
  rows_.CountSample();
  return context_.events.Counter(track->place.track_id, ts_ns, value);
}

absl::Status PerfettoRows::TakeEvent(const Packet& packet, Sequence& sequence, int64_t offset) {
  const uint32_t number = event_count_++;
  const bool is_whole = Decode(packet.event, &event_);
  const std::optional<Moment> moment = MomentOf(packet, &event_, sequence, readings_);
  if (!is_whole) {
    odd_.Count("damaged_packet", Severity::kWarning,
               "Packets that are not valid protobuf were left out. Copy or record the trace again.",
               offset);
    return absl::OkStatus();
  }
  if (sequence.Lacks(packet)) {
    odd_.Count(
        "event_without_state", Severity::kWarning,
        "Events refer to texts and defaults that were lost, because the recorder's buffer was overwritten. They were left out. Record with a larger buffer.",
        offset);
    return absl::OkStatus();
  }
  const std::optional<int64_t> ts_ns = StoreTime(moment, offset);
  if (!ts_ns) return absl::OkStatus();
  if (!event_.extra_values.empty()) {
    const auto& uuids =
        event_.extra_tracks.empty() ? sequence.defaults.extra_tracks : event_.extra_tracks;
    for (size_t i = 0; i < std::min(uuids.size(), event_.extra_values.size()); ++i)
      XP_TRY(AddSample(uuids[i], *ts_ns, event_.extra_values[i], offset));
  }
  const uint64_t uuid = TrackOf(event_, sequence);
  if (event_.type == EventType::kCounter) return AddSample(uuid, *ts_ns, event_.counter, offset);

  slice_.Clear();
  XP_TRY(const bool is_read, TakeType(sequence, offset));
  if (!is_read) return absl::OkStatus();
  XP_TRY(Track * track, TrackOfUuid(uuid, offset));
  if (track->place.is_own) return absl::OkStatus();
  slice_.ts_ns = *ts_ns;
  slice_.offset = offset;
  XP_TRY(TakeName(sequence, offset));
  XP_TRY(TakeCategories(sequence, offset));
  const Flows::Ends flow = survey_.flows().Of(number);
  slice_.flow_in = flow.in;
  slice_.flow_out = flow.out;
  for (const std::string_view argument : event_.arguments)
    XP_TRY(AddArgument(argument, sequence, offset, context_.store, texts_, odd_, slice_.args));
  if (event_.left_out) {
    odd_.Count("too_many_arguments", Severity::kWarning,
               fmt::format("Events keep {} arguments. Further ones were left out.",
                           TrackEvent::kMaxArguments),
               offset);
  }
  if (!track->place.info->in_order) {
    track->slices.Keep(slice_);
    return absl::OkStatus();
  }
  return track->slices.Add(slice_, odd_, [&](const Slice& slice) { return Emit(*track, slice); });
}

absl::Status PerfettoRows::Emit(Track& track, const Slice& slice) {
  XP_TRY(const StringId given, rows_.Add({.name = slice.name,
                                          .cat = slice.cat,
                                          .track = track.place.track,
                                          .track_id = track.place.track_id,
                                          .ts_ns = slice.ts_ns,
                                          .dur_ns = slice.dur_ns,
                                          .flow_in = slice.flow_in,
                                          .flow_out = slice.flow_out,
                                          .offset = slice.offset},
                                         ArgList(context_.store, slice.args)));
  for (const auto& [key, value] : slice.args) {
    if (key != given) context_.events.Arg(key, value);
  }
  return absl::OkStatus();
}

absl::Status PerfettoRows::Finish() {
  // The order of the rows must not depend on that of a hash table.
  std::map<uint64_t, Track*> ordered;
  for (const auto& [uuid, track] : tracks_) ordered[uuid] = track.get();
  for (const auto& [uuid, track] : ordered) {
    XP_TRY(track->slices.Finish(odd_, [&](const Slice& slice) { return Emit(*track, slice); }));
  }
  if (!other_.empty()) {
    std::map<std::string_view, int64_t> kinds;
    int64_t count = 0;
    for (const auto& [field, packets] : other_) kinds[DataName(field)] += packets, count += packets;
    std::string list;
    for (const auto& [name, packets] : kinds)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", name, packets);
    odd_.Count("packets_not_read", Severity::kInfo,
               fmt::format("Only track events are read. These packets were not: {}.", list),
               first_other_, count);
  }
  if (const int64_t flows = survey_.flows_left_out(); flows > 0) {
    odd_.Count("more_flows", Severity::kInfo,
               "Events are the target of several flows. One of them was kept.", 0, flows);
  }
  XP_TRY(rows_.Finish({}, {}, odd_));
  return rows_.WriteSettings(false, false);
}

}  // namespace xlaprof::pftrace
