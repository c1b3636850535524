#include "exporters/perfetto/perfetto_events.h"

#include <cmath>

#include "exporters/timeline/merged_arguments.h"
#include "exporters/timeline/track_events.h"

namespace xlaprof {
namespace {

// Readers hold times in a signed number.
constexpr uint64_t kMaxNs = INT64_MAX;

using Type = PerfettoPackets::Type;

OwnPiece TrackField(uint64_t uuid) {
  ProtoText field;
  PerfettoPackets::Track(uuid, field);
  return OwnPiece(std::string(field.bytes()));
}

}  // namespace

PerfettoEvents::PerfettoEvents(const Store& store, const FlowPairs& flows, int64_t origin_ns,
                               PerfettoPackets& packets)
    : store_(store),
      flows_(flows),
      has_flows_(flows.pair_count() > 0),
      origin_ns_(origin_ns),
      packets_(packets) {}

bool PerfettoEvents::Holds(int64_t ts_ns) const {
  return ts_ns >= origin_ns_ && RelativeNs(ts_ns) < kMaxNs;
}

// Begins a track. `uuid` is that of its first lane; the other lanes are children of `parent`.
void PerfettoEvents::OpenTrack(Lanes::Nesting nesting, uint64_t uuid, uint64_t parent,
                               std::string_view name) {
  places_ = Lanes(nesting);
  lanes_.clear();
  AddLane(uuid);
  parent_ = parent;
  name_ = name;
}

void PerfettoEvents::AddLane(uint64_t uuid) {
  lanes_.push_back({TrackField(uuid), PerfettoPackets::EndOf(uuid), {}});
}

inline PerfettoEvents::Lane& PerfettoEvents::LaneOf(int64_t ts_ns, int64_t end_ns) {
  const size_t lane = places_.Place(ts_ns, end_ns);
  // Viewers draw children of the same name as one track.
  while (lanes_.size() <= lane) AddLane(packets_.Child(parent_, name_));
  return lanes_[lane];
}

inline void PerfettoEvents::End(Lane& lane, uint64_t ts_ns) {
  while (!lane.end_ns.empty() && lane.end_ns.back() <= ts_ns) {
    packets_.End(lane.end_ns.back(), lane.end.get());
    lane.end_ns.pop_back();
  }
}

void PerfettoEvents::CloseTrack() {
  for (Lane& lane : lanes_) End(lane, UINT64_MAX);
}

inline void PerfettoEvents::Put(int64_t ts_ns, int64_t dur_ns, Piece fields,
                                std::string_view more) {
  const uint64_t start_ns = RelativeNs(ts_ns);
  int64_t end_ns = INT64_MAX;
  if (dur_ns >= 0 &&
      (__builtin_add_overflow(ts_ns, dur_ns, &end_ns) || start_ns + uint64_t(dur_ns) >= kMaxNs)) {
    ++endless_;
    dur_ns = kUnknownDuration;
    end_ns = INT64_MAX;
  }
  Lane& lane = LaneOf(ts_ns, end_ns);
  End(lane, start_ns);
  packets_.Event(dur_ns == 0 ? Type::kInstant : Type::kBegin, start_ns, lane.track.get(), fields,
                 more);
  if (dur_ns > 0) lane.end_ns.push_back(start_ns + uint64_t(dur_ns));
}

absl::Status PerfettoEvents::Track(const TimelineTrack& track, uint64_t process, uint32_t rank) {
  XP_TRY(OpenEventsOf(store_, track.track_id, has_flows_, events_));
  EventBatch batch;
  const ChunkArguments* arguments = nullptr;
  bool begun = false;
  while (packets_.ok()) {
    XP_TRY(bool more, events_->Next(&batch, &arguments));
    if (!more) break;
    if (!begun) {
      // Events that belong to no thread do not nest; they only happen at the same time.
      if (track.is_async) {
        OpenTrack(Lanes::Nesting::kNone, packets_.Child(process, track.name), process, track.name);
      } else {
        const uint64_t uuid = packets_.Thread(track.pid, track.tid, track.name, rank);
        OpenTrack(Lanes::Nesting::kAllowed, uuid, uuid, track.name + " (overlapping)");
      }
      begun = true;
    }
    names_.Open(batch.chunk_id, arguments->name_count());
    Batch(rank, batch, *arguments);
  }
  if (begun) CloseTrack();
  return absl::OkStatus();
}

inline const PerfettoEvents::NameFields& PerfettoEvents::FieldsOf(const EventBatch& batch, size_t i,
                                                                  const ChunkArguments& arguments) {
  const size_t index = arguments.NameIndex(size_t(batch.first_index) + i);
  NameFields& name = names_[index];
  if (!name.made || name.category != batch.category[i]) [[unlikely]]
    MakeFields(batch.name[i], batch.category[i], arguments.OfName(index), name);
  return name;
}

void PerfettoEvents::MakeFields(StringId name, StringId category,
                                std::span<const Argument> arguments, NameFields& made) {
  ProtoText fields;
  packets_.Name(name, category, fields);
  made.made = true;
  made.category = category;
  made.name_size = fields.bytes().size();
  packets_.Arguments(arguments, fields);
  made.fields = OwnPiece(std::string(fields.bytes()));
}

void PerfettoEvents::Batch(uint32_t rank, const EventBatch& batch,
                           const ChunkArguments& arguments) {
  for (size_t i = 0; i < batch.size; ++i) {
    if (!Holds(batch.ts_ns[i])) {
      ++out_of_time_;
      continue;
    }
    const NameFields& name = FieldsOf(batch, i, arguments);
    Piece fields = name.fields.get();
    const bool has_own = !arguments.Own(size_t(batch.first_index) + i).empty();
    if (has_own && arguments.keys_clash()) fields = fields.First(name.name_size);
    more_.Clear();
    if (has_own || (has_flows_ && (batch.flow_in[i] | batch.flow_out[i]) != 0))
      More(rank, batch, i, arguments);
    Put(batch.ts_ns[i], batch.dur_ns[i], fields, more_.bytes());
    ++event_count_;
  }
}

void PerfettoEvents::More(uint32_t rank, const EventBatch& batch, size_t i,
                          const ChunkArguments& arguments) {
  const size_t index = size_t(batch.first_index) + i;
  if (const auto own = arguments.Own(index); !own.empty()) {
    if (arguments.keys_clash()) {
      packets_.Arguments(MergedArguments(arguments, index), more_);
    } else {
      packets_.Arguments(own, more_);
    }
  }
  if (!has_flows_) return;
  FlowPairs::End end{.flow = batch.flow_out[i],
                     .ts_ns = batch.ts_ns[i],
                     .track_rank = rank,
                     .event_id = batch.first_event_id + int64_t(i)};
  if (end.flow != 0)
    flows_.EachPair(end, [&](uint64_t number) { PerfettoPackets::FlowFrom(number, more_); });
  end.flow = batch.flow_in[i];
  end.is_target = true;
  if (end.flow != 0)
    flows_.EachPair(end, [&](uint64_t number) { PerfettoPackets::FlowTo(number, more_); });
}

void PerfettoEvents::Marks(const MarkTrack& track, uint64_t process) {
  if (track.marks.empty()) return;
  OpenTrack(Lanes::Nesting::kAllowed, packets_.Child(process, track.name), process, track.name);
  for (const Mark& mark : track.marks) {
    if (!Holds(mark.ts_ns)) {
      ++out_of_time_;
      continue;
    }
    more_.Clear();
    PerfettoPackets::Name(mark.name, track.category, more_);
    PerfettoPackets::Arguments(mark.arguments, more_);
    Put(mark.ts_ns, mark.dur_ns, {}, more_.bytes());
  }
  CloseTrack();
}

absl::Status PerfettoEvents::Counters(const absl::flat_hash_map<int64_t, uint64_t>& uuid_of_track) {
  return EachCounterBatch(store_, [&](const CounterBatch& batch) {
    auto uuid = uuid_of_track.find(batch.track_id);
    if (uuid == uuid_of_track.end()) return absl::OkStatus();
    const OwnPiece track = TrackField(uuid->second);
    for (size_t i = 0; i < batch.ts_ns.size(); ++i) {
      if (!std::isfinite(batch.value[i])) {
        ++not_finite_;
        continue;
      }
      if (!Holds(batch.ts_ns[i])) {
        ++out_of_time_;
        continue;
      }
      more_.Clear();
      PerfettoPackets::Value(batch.value[i], more_);
      packets_.Event(Type::kCounter, RelativeNs(batch.ts_ns[i]), track.get(), {}, more_.bytes());
    }
    return absl::OkStatus();
  });
}

}  // namespace xlaprof
