#include <algorithm>
#include <array>
#include <utility>

#include "base/work_queue.h"
#include "profiler/store/chunk_rows.h"
#include "profiler/store/track_buffer.h"

namespace xlaprof {
namespace {

// A chunk with fewer events is packed before a thread would have started.
constexpr size_t kWorthThread = 1 << 14;

// A chunk that is being packed.
struct Packing {
  int64_t track_id = 0;
  EventRows rows;
  std::shared_ptr<const NameArgs> name_args;
  Nesting* nesting = nullptr;  // depths on the chunk's track
  StringId label_key = 0;
  PackedChunk packed;
};

// Packs chunks, one after the other.
class Packer {
 public:
  void Pack(Packing& chunk) {
    input_.track_id = chunk.track_id;
    input_.events.Assign(chunk.rows.events);
    for (size_t i = 0; i < chunk.rows.events.size(); ++i)
      input_.events.depth[i] = chunk.nesting->Next(chunk.rows.events[i]);
    input_.first_arg.swap(chunk.rows.first_arg);
    input_.args.swap(chunk.rows.args);
    input_.labels.swap(chunk.rows.labels);
    input_.label_key = chunk.label_key;
    input_.name_args = std::move(chunk.name_args);
    packer_.Pack(input_, &chunk.packed);
    // The buffers go back to the chunk, so that their memory is reused.
    input_.first_arg.swap(chunk.rows.first_arg);
    input_.args.swap(chunk.rows.args);
    input_.labels.swap(chunk.rows.labels);
  }

 private:
  ChunkInput input_;
  ChunkPacker packer_;
};

}  // namespace

struct EventWriter::Impl {
  sqlite3* db;
  absl::flat_hash_map<int64_t, std::unique_ptr<TrackBuffer>> tracks;
  struct Recent {
    int64_t id = 0;
    TrackBuffer* track = nullptr;
  };
  std::array<Recent, 64> recent;  // by id; tracks take turns
  TrackBuffer* last = nullptr;    // the track of the last Add
  EventRows spare;                // memory of a finished track, for the next new one
  size_t weight = 0;              // twice the Weight of all tracks
  bool has_arg_error = false;
  std::map<int64_t, UnboundFlows> unbound_flows;  // by track
  bool closing = false;  // set by Flush: ends of flows are bound now or never
  ChunkRows written;
  Prepared insert_samples;
  ChunkEncoder encoder;  // for samples
  StringId label_key = 0;
  Packer packer;
  WorkQueue<Packing, 4> queue{[this](Packing& chunk) { packer.Pack(chunk); }};
  SortedRows sorted;

  explicit Impl(sqlite3* database) : db(database), written(database) {}

  TrackBuffer* Track(int64_t id) {
    Recent& known = recent[size_t(id) % recent.size()];
    if (known.track != nullptr && known.id == id) [[likely]]
      return known.track;
    auto& slot = tracks[id];
    if (slot == nullptr) {
      slot = std::make_unique<TrackBuffer>();
      slot->rows.Swap(spare);
    }
    known = {id, slot.get()};
    return slot.get();
  }

  absl::Status FlushLargest() {
    auto largest = std::max_element(tracks.begin(), tracks.end(), [](auto& a, auto& b) {
      return a.second->Weight() < b.second->Weight();
    });
    return FlushTrack(largest->first, *largest->second);
  }

  absl::Status FlushTrack(int64_t track_id, TrackBuffer& track) {
    weight -= std::min(
        weight, 2 * track.rows.events.size() + track.rows.args.size() + track.samples.size());
    XP_TRY(WriteEvents(track_id, track));
    XP_TRY(WriteSamples(track_id, track));
    return absl::OkStatus();
  }

  absl::Status WriteEvents(int64_t track_id, TrackBuffer& track) {
    const size_t count = track.rows.events.size();
    if (count == 0) return absl::OkStatus();
    sorted.Look(track);
    BindTrackFlows(track_id, track);
    for (size_t from = 0; from < count;) {
      XP_TRY(EventRows * chunk, Next(track_id, track));
      if (track.in_order && count <= kChunkEvents && sorted.Fitting(0, count) == count) {
        chunk->Swap(track.rows);
        from = count;
      } else {
        const size_t to = sorted.Fitting(from, std::min(count, from + kChunkEvents));
        sorted.Copy(from, to, chunk);
        from = to;
      }
      Send(*chunk);
    }
    track.rows.Empty();
    track.in_order = true;
    return absl::OkStatus();
  }

  // Writes the first chunk of a track for which HasChunk() is true.
  absl::Status WriteFirstChunk(int64_t track_id, TrackBuffer& track) {
    sorted.Look(track);
    BindTrackFlows(track_id, track);
    XP_TRY(EventRows * chunk, Next(track_id, track));
    const size_t size = sorted.Fitting(0, kEarlyEvents);
    if (track.in_order) {
      chunk->Swap(track.rows);
      track.rows.TakeTail(*chunk, size);
    } else {
      sorted.Copy(0, size, chunk);
      sorted.Copy(size, track.rows.events.size(), &spare);
      track.rows.Swap(spare);
      spare.Clear();
      track.in_order = true;
    }
    weight -= std::min(weight, 2 * size + chunk->args.size());
    Send(*chunk);
    return absl::OkStatus();
  }

  // Returns the rows of the next chunk, which the caller fills and then sends.
  absl::StatusOr<EventRows*> Next(int64_t track_id, TrackBuffer& track) {
    if (queue.full()) XP_TRY(InsertOldest());
    Packing& chunk = queue.Next();
    chunk.track_id = track_id;
    chunk.name_args = track.name_args;
    chunk.nesting = &track.nesting;
    chunk.label_key = label_key;
    chunk.rows.Clear();
    return &chunk.rows;
  }
  void Send(const EventRows& rows) {
    queue.Submit(/*is_large=*/rows.events.size() >= kWorthThread);
  }

  // Binds the ends of flows to the events of a track. Ends that are later than the last event wait
  // for the events to come, unless the writer is closing and none will come.
  void BindTrackFlows(int64_t track_id, TrackBuffer& track) {
    std::vector<FlowPoint>& points = track.flow_points;
    if (points.empty()) return;
    std::vector<Event>& events = sorted.events();
    const int64_t last_ns = events.back().ts_ns;
    auto later = std::stable_partition(points.begin(), points.end(), [&](const FlowPoint& point) {
      return closing || point.ts_ns <= last_ns;
    });
    AddUnbound(track_id, BindFlows(events, std::span(points.begin(), later)));
    points.erase(points.begin(), later);
  }

  void AddUnbound(int64_t track_id, const UnboundFlows& unbound) {
    if (unbound.count > 0) unbound_flows[track_id].Add(unbound);
  }

  absl::Status InsertOldest() {
    absl::Status status = written.Insert(queue.Oldest().packed);
    queue.Release();
    return status;
  }

  absl::Status WriteSamples(int64_t track_id, TrackBuffer& track) {
    auto earlier = [](auto& a, auto& b) { return a.first < b.first; };
    if (!std::is_sorted(track.samples.begin(), track.samples.end(), earlier)) {
      std::stable_sort(track.samples.begin(), track.samples.end(), earlier);
    }
    std::vector<int64_t> ts_ns;
    std::vector<double> value;
    for (size_t from = 0; from < track.samples.size(); from += kChunkEvents) {
      size_t to = std::min(from + kChunkEvents, track.samples.size());
      ts_ns.clear();
      value.clear();
      for (size_t i = from; i < to; ++i) {
        ts_ns.push_back(track.samples[i].first);
        value.push_back(track.samples[i].second);
      }
      XP_TRY(insert_samples.Prepare(
          db,
          "INSERT INTO main.counter_chunk (track_id, count, min_ts_ns, max_ts_ns, columns) VALUES "
          "(?, ?, ?, ?, ?)"));
      std::string blob = encoder.Samples(ts_ns, value);
      sqlite3_stmt* statement = insert_samples.statement;
      const int64_t numbers[] = {track_id, int64_t(ts_ns.size()), ts_ns.front(), ts_ns.back()};
      for (int i = 0; i < 4; ++i) sqlite3_bind_int64(statement, i + 1, numbers[i]);
      sqlite3_bind_blob64(statement, 5, blob.data(), blob.size(), SQLITE_STATIC);
      XP_TRY(insert_samples.Run());
    }
    EmptyBuffer(track.samples);
    return absl::OkStatus();
  }
};

EventWriter::EventWriter(Store& store) : EventWriter(store.db()) {}
EventWriter::EventWriter(sqlite3* db) : impl_(std::make_unique<Impl>(db)) {}
EventWriter::~EventWriter() = default;

absl::Status EventWriter::Add(int64_t track_id, int64_t ts_ns, int64_t dur_ns, StringId name,
                              StringId category, uint64_t flow_in, uint64_t flow_out) {
  // This is done before the event is added, because the event's arguments are added after it.
  if (impl_->weight >= 2 * kMaxBuffered) XP_TRY(impl_->FlushLargest());
  TrackBuffer* track = impl_->last = impl_->Track(track_id);
  if (track->HasChunk()) [[unlikely]]
    XP_TRY(impl_->WriteFirstChunk(track_id, *track));
  track->Follow(ts_ns, dur_ns);
  track->rows.Next().emplace_back(ts_ns, dur_ns, name, category, flow_in, flow_out);
  impl_->weight += 2;
  return absl::OkStatus();
}

void EventWriter::Arg(StringId key, ArgType type, uint64_t bits) {
  TrackBuffer* track = impl_->last;
  XP_CHECK(track != nullptr && !track->rows.events.empty());
  EventRows& rows = track->rows;
  if (rows.first_arg.empty()) rows.first_arg.assign(rows.events.size(), 0);
  if (rows.args.size() - rows.first_arg.back() >= kChunkArguments) {
    impl_->has_arg_error = true;
    return;
  }
  rows.Add(BufferedArg{bits, key, type});
  impl_->weight += 1;
}

void EventWriter::Label(StringId key, Text text) {
  XP_CHECK(impl_->label_key == 0 || impl_->label_key == key);
  impl_->label_key = key;
  EventRows& rows = impl_->last->rows;
  if (rows.labels.empty()) rows.labels.resize(rows.events.size());
  rows.labels.back() = text.id;
}

void EventWriter::NameArg(int64_t track_id, StringId name, StringId key, const ArgValue& value) {
  std::shared_ptr<NameArgs>& of_track = impl_->Track(track_id)->name_args;
  if (of_track == nullptr || of_track.use_count() > 1)
    of_track = std::make_shared<NameArgs>(of_track == nullptr ? NameArgs() : *of_track);
  auto& args = (*of_track)[name];
  BufferedArg arg{ArgBits(value), key, ArgTypeOf(value)};
  for (BufferedArg& known : args) {
    if (known.key == arg.key && known.type == arg.type) {
      known.bits = arg.bits;
      return;
    }
  }
  args.push_back(arg);
}

absl::Status EventWriter::Counter(int64_t track_id, int64_t ts_ns, double value) {
  if (impl_->weight >= 2 * kMaxBuffered) XP_TRY(impl_->FlushLargest());
  impl_->Track(track_id)->samples.emplace_back(ts_ns, value);
  impl_->weight += 1;
  return absl::OkStatus();
}

void EventWriter::Flow(int64_t track_id, int64_t ts_ns, uint64_t flow, FlowEnd end,
                       int64_t offset) {
  impl_->Track(track_id)->flow_points.push_back({ts_ns, flow, end, offset});
}

const std::map<int64_t, UnboundFlows>& EventWriter::unbound_flows() const {
  return impl_->unbound_flows;
}

absl::Status EventWriter::Finish(int64_t track_id) {
  auto found = impl_->tracks.find(track_id);
  if (found == impl_->tracks.end()) return absl::OkStatus();
  XP_TRY(impl_->FlushTrack(track_id, *found->second));
  found->second->rows.Swap(impl_->spare);
  return absl::OkStatus();
}

absl::Status EventWriter::Flush() {
  std::vector<int64_t> ids;
  for (auto& [id, track] : impl_->tracks) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (int64_t id : ids) {
    TrackBuffer& track = *impl_->tracks[id];
    impl_->closing = true;
    absl::Status status = impl_->FlushTrack(id, track);
    impl_->closing = false;
    XP_TRY(std::move(status));
    for (const FlowPoint& point : std::exchange(track.flow_points, {}))
      impl_->AddUnbound(id, {1, point.offset});
  }
  while (!impl_->queue.empty()) XP_TRY(impl_->InsertOldest());
  if (std::exchange(impl_->has_arg_error, false)) {
    return absl::ResourceExhaustedError(
        fmt::format("an event has more than {} arguments", kChunkArguments));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
