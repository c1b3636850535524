// What a track waits with until it is written: events in rows as they come, and their order.
// Internal to EventWriter.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "profiler/store/chunk_packer.h"
#include "profiler/store/events.h"
#include "profiler/store/flow_points.h"

namespace xlaprof {

// Events that may wait in memory, over all tracks; an argument or sample counts as half of one.
// About 50 MB.
inline constexpr size_t kMaxBuffered = 1 << 20;
// A track whose events come in order, or late by little, is written a chunk of kEarlyEvents at a
// time once it has this many: the rest waits for what belongs before it. Little does, and all that
// waits to the end is packed at last, while nothing else is left to do; and each page of memory that
// it waits in costs as much as ten events.
inline constexpr size_t kEarlyEvents = EventWriter::kChunkEvents / 2;
inline constexpr size_t kMaxInOrder = kEarlyEvents + kEarlyEvents / 4;
// A track that waits with more, since its events come very late, waits on: to take a chunk from so
// many costs too much.
inline constexpr size_t kMaxLate = 4 * EventWriter::kChunkEvents;

// Empties what was written; buffers that grew large give their memory back.
template <class T>
void EmptyBuffer(std::vector<T>& values) {
  constexpr size_t kKeptCapacity = 4 * EventWriter::kChunkEvents;
  values.clear();
  if (values.capacity() > kKeptCapacity) values.shrink_to_fit();
}

// Depths on one track. Keeps the ends of the events that are open at the current start, outermost
// first.
class Nesting {
 public:
  uint16_t Next(const Event& event);

 private:
  std::vector<int64_t> open_;
  Event last_;
  bool any_ = false;
};

// Events in rows, with their arguments.
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
  void TakeTail(EventRows& from, size_t begin);
  // For as many as a track usually waits with: memory that is not written to costs nothing, and
  // what grows by and by is copied.
  void MakeRoom();
  void Clear();
  // Clears, and gives large memory back.
  void Empty();
  void Swap(EventRows& other);

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

// The rows of one track after the other, in their order.
class SortedRows {
 public:
  // From here on of `track`, the rows of which neither come nor go meanwhile. Sorts them unless
  // they came in order.
  void Look(TrackBuffer& track);
  // In order; Copy gives what is changed here.
  std::vector<Event>& events() { return track_->in_order ? track_->rows.events : sorted_; }
  // Of the events [from, to), the end of those whose arguments fit one chunk.
  size_t Fitting(size_t from, size_t to) const;
  // Copies the events [from, to), with what belongs to them, into `copy`, which is empty.
  void Copy(size_t from, size_t to, EventRows* copy) const;

 private:
  // Among the rows, of the event that is `i`th in order.
  size_t Row(size_t i) const { return track_->in_order ? i : order_[i]; }

  TrackBuffer* track_ = nullptr;
  // Filled where they did not come in order.
  std::vector<Event> sorted_;
  std::vector<uint32_t> order_, late_;
};

}  // namespace xlaprof
