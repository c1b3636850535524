#include <algorithm>
#include <array>
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
// A track whose events come in order, or late by little, is written a chunk of kEarlyEvents at a
// time once it has this many: the rest waits for what belongs before it. Little does, and all that
// waits to the end is packed at last, while nothing else is left to do; and each page of memory that
// it waits in costs as much as ten events.
constexpr size_t kEarlyEvents = EventWriter::kChunkEvents / 2;
constexpr size_t kMaxInOrder = kEarlyEvents + kEarlyEvents / 4;
// A track that waits with more, since its events come very late, waits on: to take a chunk from so
// many costs too much.
constexpr size_t kMaxLate = 4 * EventWriter::kChunkEvents;
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

// Events in rows, as they come, with their arguments.
struct EventRows {
  std::vector<Event> events;
  std::vector<uint32_t> first_arg;  // of each event; empty while there are no arguments
  std::vector<BufferedArg> args;
  std::vector<StringId> labels;  // of each event; empty while there are none

  // Room for another event, which has no arguments yet.
  std::vector<Event>& Next() {
    if (!labels.empty()) {
      MakeRoom(labels, kMaxInOrder);
      labels.push_back(0);
    }
    if (!first_arg.empty()) {
      MakeRoom(first_arg, kMaxInOrder);
      first_arg.push_back(uint32_t(args.size()));
    }
    MakeRoom(events, kMaxInOrder);
    return events;
  }
  void Add(const BufferedArg& arg) {
    MakeRoom(args, 2 * kMaxInOrder);
    args.push_back(arg);
  }
  // Where the arguments of event `i` begin; i: up to the number of events.
  size_t FirstArg(size_t i) const { return i < first_arg.size() ? first_arg[i] : args.size(); }
  std::span<const BufferedArg> ArgsOf(size_t i) const {
    return std::span(args).subspan(FirstArg(i), FirstArg(i + 1) - FirstArg(i));
  }
  // Becomes what `from` has from event `begin` on, and that keeps what is before.
  void TakeTail(EventRows& from, size_t begin) {
    MakeRoom();
    const size_t args_begin = from.FirstArg(begin);
    events.assign(from.events.begin() + int64_t(begin), from.events.end());
    from.events.resize(begin);
    first_arg.clear();
    args.assign(from.args.begin() + int64_t(args_begin), from.args.end());
    from.args.resize(args_begin);
    labels.clear();
    if (!from.labels.empty()) {
      labels.assign(from.labels.begin() + int64_t(begin), from.labels.end());
      from.labels.resize(begin);
    }
    if (from.first_arg.empty()) return;
    for (size_t i = begin; i < from.first_arg.size(); ++i)
      first_arg.push_back(uint32_t(from.first_arg[i] - args_begin));
    from.first_arg.resize(begin);
  }
  // For as many as a track usually waits with: memory that is not written to costs nothing, and
  // what grows by and by is copied.
  void MakeRoom() {
    events.reserve(kMaxInOrder);
    first_arg.reserve(kMaxInOrder);
    args.reserve(2 * kMaxInOrder);
    labels.reserve(kMaxInOrder);
  }
  void Clear() {
    events.clear();
    first_arg.clear();
    args.clear();
    labels.clear();
  }
  void Swap(EventRows& other) {
    events.swap(other.events);
    first_arg.swap(other.first_arg);
    args.swap(other.args);
    labels.swap(other.labels);
  }

 private:
  // For the next value; of a track with many, at once for as many as usually wait, and then for as
  // many as ever do: memory that is not written to costs nothing, and growing twice copies twice.
  template <class T>
  static void MakeRoom(std::vector<T>& values, size_t usual) {
    constexpr size_t kMany = 1 << 12;
    if (values.size() == values.capacity() && values.size() >= kMany)
      values.reserve(values.size() < usual ? usual : std::max(2 * values.size(), kMaxBuffered));
  }
};

struct TrackBuffer {
  EventRows rows;
  std::vector<std::pair<int64_t, double>> samples;
  std::vector<FlowPoint> flow_points;
  std::shared_ptr<NameArgs> name_args;  // as chunks share it that are being packed
  Nesting nesting;                      // of what is packed: used there only
  bool in_order = true;                 // events are sorted
  int64_t newest_ns = INT64_MIN;        // of the events, when the last in order began
  int64_t newest_dur_ns = -1;
  uint64_t most_late_ns = 0;  // that any event began before one that came earlier

  // An event comes that begins then.
  void Follow(int64_t ts_ns, int64_t dur_ns) {
    const bool late =
        ts_ns < newest_ns || (ts_ns == newest_ns && uint64_t(dur_ns) > uint64_t(newest_dur_ns));
    if (late && !rows.events.empty()) [[unlikely]] {
      in_order = false;
      most_late_ns = std::max(most_late_ns, uint64_t(newest_ns) - uint64_t(ts_ns));
      return;
    }
    newest_ns = ts_ns;
    newest_dur_ns = dur_ns;
  }
  // Whether a chunk can be written although more will come: what comes late will hardly belong into
  // it, as late as it was so far.
  bool HasChunk() const {
    if (rows.events.size() < kMaxInOrder || rows.events.size() > kMaxLate) return false;
    return (uint64_t(newest_ns) - uint64_t(rows.events[kEarlyEvents].ts_ns)) / 2 >= most_late_ns;
  }
  size_t Weight() const { return rows.events.size() + (rows.args.size() + samples.size()) / 2; }
};

// A chunk on its way.
struct Packing {
  int64_t track_id = 0;
  EventRows rows;
  std::shared_ptr<const NameArgs> name_args;
  Nesting* nesting = nullptr;  // of its track
  StringId label_key = 0;
  PackedChunk packed;
};

// What packs them, one after the other; on any thread.
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
    // Memory goes back with what it came in.
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
  std::array<Recent, 64> recent;  // tracks take turns; by id
  TrackBuffer* last = nullptr;    // of the last Add
  EventRows spare;    // memory of a finished track, for the next new one
  size_t weight = 0;  // twice the Weight of all tracks
  bool has_arg_error = false;
  int64_t unbound_flows = 0;
  bool closing = false;  // Flush: every end of a flow is bound now or never
  ChunkRows written;
  Prepared insert_samples;
  ChunkEncoder encoder;  // of samples
  bool lends_packing = false;
  StringId label_key = 0;
  Packer packer;
  WorkQueue<Packing, 4> queue{[this](Packing& chunk) { packer.Pack(chunk); }};
  // Reused between chunks.
  std::vector<Event> sorted;
  std::vector<uint32_t> order, late;

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
    Sort(track);
    BindTrackFlows(track);
    for (size_t from = 0; from < count;) {
      XP_TRY(EventRows * chunk, Next(track_id, track));
      if (track.in_order && count <= kChunkEvents && Fitting(track, 0, count) == count) {
        chunk->Swap(track.rows);
        from = count;
      } else {
        const size_t to = Fitting(track, from, std::min(count, from + kChunkEvents));
        Copy(track, from, to, chunk);
        from = to;
      }
      Send(*chunk);
    }
    Empty(track.rows.events);
    Empty(track.rows.first_arg);
    Empty(track.rows.args);
    Empty(track.rows.labels);
    Empty(sorted);
    track.in_order = true;
    return absl::OkStatus();
  }

  // Writes the first chunk of a track that HasChunk().
  absl::Status WriteFirstChunk(int64_t track_id, TrackBuffer& track) {
    Sort(track);
    BindTrackFlows(track);
    XP_TRY(EventRows * chunk, Next(track_id, track));
    const size_t size = Fitting(track, 0, kEarlyEvents);
    if (track.in_order) {
      chunk->Swap(track.rows);
      track.rows.TakeTail(*chunk, size);
    } else {
      Copy(track, 0, size, chunk);
      Copy(track, size, track.rows.events.size(), &spare);
      track.rows.Swap(spare);
      spare.Clear();
      track.in_order = true;
    }
    weight -= std::min(weight, 2 * size + chunk->args.size());
    Send(*chunk);
    return absl::OkStatus();
  }

  // The rows of the next chunk, to be filled, and then sent.
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
    queue.Submit(lends_packing                       ? Worker::kAnyone
                 : rows.events.size() < kWorthThread ? Worker::kOwner
                                                     : Worker::kThread);
  }

  // Of the events [from, to) in order, the end of those whose arguments fit one chunk.
  size_t Fitting(const TrackBuffer& track, size_t from, size_t to) const {
    if (track.rows.args.size() <= kChunkArguments) return to;
    size_t args = 0;
    for (size_t i = from; i < to; ++i) {
      args += track.rows.ArgsOf(track.in_order ? i : order[i]).size();
      if (i > from && args > kChunkArguments) return i;
    }
    return to;
  }
  // Copies the events [from, to) in order, with their arguments.
  void Copy(const TrackBuffer& track, size_t from, size_t to, EventRows* copy) const {
    const std::span<const Event> events = track.in_order ? track.rows.events : sorted;
    copy->MakeRoom();
    copy->events.assign(events.begin() + int64_t(from), events.begin() + int64_t(to));
    if (!track.rows.labels.empty()) {
      for (size_t i = from; i < to; ++i)
        copy->labels.push_back(track.rows.labels[track.in_order ? i : order[i]]);
    }
    if (track.rows.first_arg.empty()) return;
    for (size_t i = from; i < to; ++i) {
      const auto args = track.rows.ArgsOf(track.in_order ? i : order[i]);
      copy->first_arg.push_back(uint32_t(copy->args.size()));
      copy->args.insert(copy->args.end(), args.begin(), args.end());
    }
  }

  // Ends beyond the last event wait for those that come, unless none will.
  void BindTrackFlows(TrackBuffer& track) {
    std::vector<FlowPoint>& points = track.flow_points;
    if (points.empty()) return;
    std::vector<Event>& events = track.in_order ? track.rows.events : sorted;
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
    const std::vector<Event>& events = track.rows.events;
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
    Empty(track.samples);
    return absl::OkStatus();
  }
};

EventWriter::EventWriter(Store& store) : EventWriter(store.db()) {}
EventWriter::EventWriter(sqlite3* db) : impl_(std::make_unique<Impl>(db)) {}
EventWriter::~EventWriter() = default;

absl::Status EventWriter::Add(int64_t track_id, int64_t ts_ns, int64_t dur_ns, StringId name,
                              StringId category, uint64_t flow_in, uint64_t flow_out) {
  // Before the event is taken: its arguments come after it.
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

void EventWriter::Flow(int64_t track_id, int64_t ts_ns, uint64_t flow, FlowEnd end) {
  impl_->Track(track_id)->flow_points.push_back({ts_ns, flow, end});
}

void EventWriter::LendPacking(bool lent) { impl_->lends_packing = lent; }
bool EventWriter::PackOne() { return impl_->queue.Help(); }

int64_t EventWriter::unbound_flows() const { return impl_->unbound_flows; }

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
