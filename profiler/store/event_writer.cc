#include <algorithm>
#include <utility>

#include "core/base/work_queue.h"
#include "profiler/store/chunk_packer.h"
#include "profiler/store/chunk_rows.h"
#include "profiler/store/events.h"
#include "profiler/store/flow_points.h"

namespace xlaprof {
namespace {

// Events that may wait in memory, over all tracks; an argument or sample counts as half of one.
// About 50 MB.
constexpr size_t kMaxBuffered = 1 << 20;
// A track whose events come in order is written a chunk at a time once it has this many: the rest
// waits for what belongs before it. Little does, and all that waits to the end is packed at last,
// while nothing else is left to do.
constexpr size_t kMaxInOrder = EventWriter::kChunkEvents + EventWriter::kChunkEvents / 4;
// Buffers larger than this give their memory back once written.
constexpr size_t kKeptCapacity = 4 * EventWriter::kChunkEvents;
// Less is packed before a thread would have begun.
constexpr size_t kWorthThread = 1 << 14;
constexpr size_t kMaxDepth = UINT16_MAX;

// Depths on one track. Keeps the ends of the events that are open at the current start, outermost
// first.
class Nesting {
 public:
  uint16_t Next(const Event& event) {
    if (any_ && EventBefore(event, last_))
      open_.clear();  // out of order: what is around it is not known any more
    any_ = true;
    last_ = event;
    while (!open_.empty() && open_.back() <= event.ts_ns) open_.pop_back();
    uint16_t depth = uint16_t(open_.size());
    int64_t end = event.dur_ns < 0 ? INT64_MAX : EventEnd(event.ts_ns, event.dur_ns);
    if (end > event.ts_ns && open_.size() < kMaxDepth) open_.push_back(end);
    return depth;
  }

 private:
  std::vector<int64_t> open_;
  Event last_;
  bool any_ = false;
};

struct TrackBuffer {
  std::vector<Event> events;
  std::vector<uint32_t> first_arg;  // of each event; empty while there are no arguments
  std::vector<BufferedArg> args;
  std::vector<std::pair<int64_t, double>> samples;
  std::vector<FlowPoint> flow_points;
  std::shared_ptr<NameArgs> name_args;  // as chunks share it that are being packed
  Nesting nesting;
  bool in_order = true;  // events are sorted

  void Add(const Event& event) {
    if (!first_arg.empty()) {
      MakeRoom(first_arg, kMaxInOrder);
      first_arg.push_back(uint32_t(args.size()));
    }
    MakeRoom(events, kMaxInOrder);
    events.push_back(event);
  }
  void Add(const BufferedArg& arg) {
    MakeRoom(args, 2 * kMaxInOrder);
    args.push_back(arg);
  }
  // For the next value; of a track with many, at once for as many as usually wait, and then for as
  // many as ever do: memory that is not written to costs nothing, and growing twice copies twice.
  template <class T>
  static void MakeRoom(std::vector<T>& values, size_t usual) {
    constexpr size_t kMany = 1 << 12;
    if (values.size() == values.capacity() && values.size() >= kMany)
      values.reserve(values.size() < usual ? usual : std::max(2 * values.size(), kMaxBuffered));
  }
  size_t Weight() const { return events.size() + (args.size() + samples.size()) / 2; }
  // Exchanges memory; both are empty.
  void Swap(TrackBuffer& other) {
    events.swap(other.events);
    first_arg.swap(other.first_arg);
    args.swap(other.args);
  }
  // The arguments of event `i`.
  std::span<const BufferedArg> ArgsOf(size_t i) const {
    size_t from = first_arg[i], to = i + 1 < events.size() ? first_arg[i + 1] : args.size();
    return std::span(args).subspan(from, to - from);
  }
};

}  // namespace

struct EventWriter::Impl {
  sqlite3* db;
  absl::flat_hash_map<int64_t, std::unique_ptr<TrackBuffer>> tracks;
  int64_t last_track = 0;
  TrackBuffer* last = nullptr;
  TrackBuffer spare;  // memory of a finished track, for the next new one
  size_t weight = 0;  // twice the Weight of all tracks
  bool has_arg_error = false;
  int64_t unbound_flows = 0;
  bool closing = false;  // Flush: every end of a flow is bound now or never
  ChunkRows rows;
  Prepared insert_samples;
  ChunkEncoder encoder;  // of samples
  struct Packing {
    ChunkInput input;
    PackedChunk packed;
  };
  ChunkPacker packer;
  WorkQueue<Packing> queue{[this](Packing& chunk) { packer.Pack(chunk.input, &chunk.packed); }};
  // Reused between chunks.
  std::vector<Event> sorted;
  std::vector<uint32_t> order, late;

  explicit Impl(sqlite3* database) : db(database), rows(database) {}

  TrackBuffer* Track(int64_t id) {
    if (last != nullptr && id == last_track) return last;
    auto& slot = tracks[id];
    if (slot == nullptr) {
      slot = std::make_unique<TrackBuffer>();
      slot->Swap(spare);
    }
    last_track = id;
    return last = slot.get();
  }

  absl::Status FlushLargest() {
    auto largest = std::max_element(tracks.begin(), tracks.end(), [](auto& a, auto& b) {
      return a.second->Weight() < b.second->Weight();
    });
    return FlushTrack(largest->first, *largest->second);
  }

  absl::Status FlushTrack(int64_t track_id, TrackBuffer& track) {
    weight -= std::min(weight, 2 * track.events.size() + track.args.size() + track.samples.size());
    XP_TRY(WriteEvents(track_id, track));
    XP_TRY(WriteSamples(track_id, track));
    return absl::OkStatus();
  }

  absl::Status WriteEvents(int64_t track_id, TrackBuffer& track) {
    if (track.events.empty()) return absl::OkStatus();
    Sort(track);
    BindTrackFlows(track);
    const std::vector<Event>& events = sorted.empty() ? track.events : sorted;
    for (size_t from = 0; from < events.size();) {
      XP_TRY(from, WriteFrom(track_id, track, events, from));
    }
    Empty(track.events);
    Empty(track.first_arg);
    Empty(track.args);
    Empty(sorted);
    track.in_order = true;
    return absl::OkStatus();
  }

  // Writes the first chunk of a track that has more, and whose events are in order.
  absl::Status WriteFirstChunk(int64_t track_id, TrackBuffer& track) {
    sorted.clear();
    BindTrackFlows(track);
    XP_TRY(size_t written, WriteFrom(track_id, track, track.events, 0));
    size_t args = 0;
    if (!track.first_arg.empty()) {
      args = written < track.events.size() ? track.first_arg[written] : track.args.size();
      track.args.erase(track.args.begin(), track.args.begin() + int64_t(args));
      track.first_arg.erase(track.first_arg.begin(), track.first_arg.begin() + int64_t(written));
      for (uint32_t& first : track.first_arg) first -= uint32_t(args);
    }
    track.events.erase(track.events.begin(), track.events.begin() + int64_t(written));
    weight -= std::min(weight, 2 * written + args);
    return absl::OkStatus();
  }

  // Sends one chunk on its way, of as many events from `from` on as it can take; returns the first
  // that it did not take. `events` are the track's, in order.
  absl::StatusOr<size_t> WriteFrom(int64_t track_id, TrackBuffer& track,
                                   const std::vector<Event>& events, size_t from) {
    if (queue.full()) XP_TRY(InsertOldest());
    ChunkInput& chunk = queue.Next().input;
    chunk.track_id = track_id;
    chunk.name_args = track.name_args;
    size_t to = std::min(events.size(), from + kChunkEvents);
    to = TakeArgs(track, from, to, &chunk);
    chunk.events.Assign(std::span(events).subspan(from, to - from));
    for (size_t i = from; i < to; ++i) chunk.events.depth[i - from] = track.nesting.Next(events[i]);
    queue.Submit(to - from >= kWorthThread);
    return to;
  }

  // Copies the arguments of events [from, to), or of as many as one chunk can have.
  size_t TakeArgs(const TrackBuffer& track, size_t from, size_t to, ChunkInput* chunk) {
    chunk->first_arg.clear();
    chunk->args.clear();
    if (track.first_arg.empty()) return to;
    for (size_t i = from; i < to; ++i) {
      const auto args = track.ArgsOf(sorted.empty() ? i : order[i]);
      if (i > from && chunk->args.size() + args.size() > kChunkArguments) return i;
      chunk->first_arg.push_back(uint32_t(chunk->args.size()));
      chunk->args.insert(chunk->args.end(), args.begin(), args.end());
    }
    return to;
  }

  // Ends beyond the last event wait for those that come, unless none will.
  void BindTrackFlows(TrackBuffer& track) {
    std::vector<FlowPoint>& points = track.flow_points;
    if (points.empty()) return;
    std::vector<Event>& events = sorted.empty() ? track.events : sorted;
    const int64_t last_ns = events.back().ts_ns;
    auto later = std::stable_partition(points.begin(), points.end(), [&](const FlowPoint& point) {
      return closing || point.ts_ns <= last_ns;
    });
    unbound_flows += BindFlows(events, std::span(points.begin(), later));
    points.erase(points.begin(), later);
  }

  template <class T>
  static void Empty(std::vector<T>& values) {
    values.clear();
    if (values.capacity() > kKeptCapacity) values.shrink_to_fit();
  }

  // Fills `sorted` and `order` unless the events came in order.
  void Sort(TrackBuffer& track) {
    sorted.clear();
    if (track.in_order) return;
    // Mostly a few come late, such as what is written down when it ends: they go between the
    // others, which are in order.
    const std::vector<Event>& events = track.events;
    order.clear();
    order.reserve(events.size());
    late.clear();
    for (uint32_t i = 0; i < events.size(); ++i) {
      (order.empty() || !EventBefore(events[i], events[order.back()]) ? order : late).push_back(i);
    }
    auto before = [&](uint32_t a, uint32_t b) {
      if (EventBefore(events[a], events[b])) return true;
      return a < b && !EventBefore(events[b], events[a]);
    };
    std::sort(late.begin(), late.end(), before);
    sorted.resize(events.size());
    // From the back, where there is room.
    size_t in_order = order.size(), to = events.size();
    order.resize(to);
    for (size_t from = late.size(); to > 0;) {
      const bool is_late =
          from > 0 && (in_order == 0 || before(order[in_order - 1], late[from - 1]));
      const uint32_t i = is_late ? late[--from] : order[--in_order];
      order[--to] = i;
      sorted[to] = events[i];
    }
  }

  absl::Status InsertOldest() {
    const Packing& oldest = queue.Oldest();
    absl::Status status = rows.Insert(oldest.input, oldest.packed);
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
    Empty(track.samples);
    return absl::OkStatus();
  }
};

EventWriter::EventWriter(Store& store) : EventWriter(store.db()) {}
EventWriter::EventWriter(sqlite3* db) : impl_(std::make_unique<Impl>(db)) {}
EventWriter::~EventWriter() = default;

absl::Status EventWriter::Add(int64_t track_id, const Event& event) {
  // Before the event is taken: its arguments come after it.
  if (impl_->weight >= 2 * kMaxBuffered) XP_TRY(impl_->FlushLargest());
  TrackBuffer* track = impl_->Track(track_id);
  if (!track->events.empty()) {
    track->in_order = track->in_order && !EventBefore(event, track->events.back());
    if (track->in_order && track->events.size() >= kMaxInOrder)
      XP_TRY(impl_->WriteFirstChunk(track_id, *track));
  }
  track->Add(event);
  impl_->weight += 2;
  return absl::OkStatus();
}

void EventWriter::Arg(StringId key, const ArgValue& value) {
  TrackBuffer* track = impl_->last;
  XP_CHECK(track != nullptr && !track->events.empty());
  if (track->first_arg.empty()) track->first_arg.assign(track->events.size(), 0);
  if (track->args.size() - track->first_arg.back() >= kChunkArguments) {
    impl_->has_arg_error = true;
    return;
  }
  track->Add(BufferedArg{ArgBits(value), key, ArgTypeOf(value)});
  impl_->weight += 1;
}

void EventWriter::NameArg(int64_t track_id, StringId name, StringId key, const ArgValue& value) {
  TrackBuffer* last = impl_->last;
  int64_t last_track = impl_->last_track;
  std::shared_ptr<NameArgs>& of_track = impl_->Track(track_id)->name_args;
  if (of_track == nullptr || of_track.use_count() > 1)
    of_track = std::make_shared<NameArgs>(of_track == nullptr ? NameArgs() : *of_track);
  auto& args = (*of_track)[name];
  if (last != nullptr)
    impl_->last = last, impl_->last_track = last_track;  // Arg stays with the last Add
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
  TrackBuffer* last = impl_->last;
  int64_t last_track = impl_->last_track;
  impl_->Track(track_id)->samples.emplace_back(ts_ns, value);
  if (last != nullptr) impl_->last = last, impl_->last_track = last_track;
  impl_->weight += 1;
  return absl::OkStatus();
}

void EventWriter::Flow(int64_t track_id, int64_t ts_ns, uint64_t flow, FlowEnd end) {
  TrackBuffer* last = impl_->last;
  int64_t last_track = impl_->last_track;
  impl_->Track(track_id)->flow_points.push_back({ts_ns, flow, end});
  if (last != nullptr) impl_->last = last, impl_->last_track = last_track;
}

int64_t EventWriter::unbound_flows() const { return impl_->unbound_flows; }

absl::Status EventWriter::Finish(int64_t track_id) {
  auto found = impl_->tracks.find(track_id);
  if (found == impl_->tracks.end()) return absl::OkStatus();
  XP_TRY(impl_->FlushTrack(track_id, *found->second));
  found->second->Swap(impl_->spare);
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
    impl_->unbound_flows += int64_t(std::exchange(track.flow_points, {}).size());
  }
  while (!impl_->queue.empty()) XP_TRY(impl_->InsertOldest());
  if (std::exchange(impl_->has_arg_error, false)) {
    return absl::ResourceExhaustedError(
        fmt::format("an event has more than {} arguments", kChunkArguments));
  }
  return absl::OkStatus();
}

}  // namespace xlaprof
