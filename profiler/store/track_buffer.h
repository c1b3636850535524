// Buffers the events of a track in rows, as they come, until they are written in order. Internal to
// EventWriter.
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

// The most events that wait in memory, over all tracks; an argument or counter value counts as half
// of one. They take about 50 MB.
inline constexpr size_t kMaxBuffered = 1 << 20;
// A track whose events come in order, or late by little, is written a chunk of kEarlyEvents at a
// time once kMaxInOrder events wait. The rest waits for events that belong before it. It is small
// because few events come late. What waits to the end is packed last, when nothing else is left to
// do, and each page of memory that it takes costs as much as ten events.
inline constexpr size_t kEarlyEvents = EventWriter::kChunkEvents / 2;
inline constexpr size_t kMaxInOrder = kEarlyEvents + kEarlyEvents / 4;
// A track with more waiting events than this, because its events come very late, is not written
// early: to take a chunk from so many costs too much.
inline constexpr size_t kMaxLate = 4 * EventWriter::kChunkEvents;

// Empties a buffer that was written. A buffer that grew large releases its memory.
template <class T>
void EmptyBuffer(std::vector<T>& values) {
  constexpr size_t kKeptCapacity = 4 * EventWriter::kChunkEvents;
  values.clear();
  if (values.capacity() > kKeptCapacity) values.shrink_to_fit();
}

// Finds the depths of the events of one track. Keeps the ends of the events that are open at the
// current start, outermost first.
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
  std::vector<uint32_t> first_arg;  // for each event, its first in args; empty while there are none
  std::vector<BufferedArg> args;
  std::vector<StringId> labels;  // for each event; empty while there are none

  // Makes room for another event, which has no arguments yet, and returns the events to add it to.
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
  // Returns where the arguments of event `i` begin; `i` may be the number of events.
  size_t FirstArg(size_t i) const { return i < first_arg.size() ? first_arg[i] : args.size(); }
  std::span<const BufferedArg> ArgsOf(size_t i) const {
    return std::span(args).subspan(FirstArg(i), FirstArg(i + 1) - FirstArg(i));
  }
  // Takes the events of `from` from `begin` on, with their arguments and labels; `from` keeps those
  // before.
  void TakeTail(EventRows& from, size_t begin);
  // Makes room for as many events as usually wait on a track. Memory that is not written to costs
  // nothing, while buffers that grow step by step are copied.
  void MakeRoom();
  void Clear();
  // Clears the rows and releases the memory of large buffers.
  void Empty();
  void Swap(EventRows& other);

 private:
  // Makes room for the next value. A buffer with many values gets room for as many as usually wait,
  // and after that for the most that may wait. Memory that is not written to costs nothing, while
  // growing twice copies twice.
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
  std::shared_ptr<NameArgs> name_args;  // shared with chunks that are being packed
  Nesting nesting;                      // depths of the packed events; used only while packing
  bool in_order = true;                 // events are sorted
  int64_t newest_ns = INT64_MIN;        // start of the last event that came in order
  int64_t newest_dur_ns = -1;
  uint64_t most_late_ns = 0;  // by how much an event began before an earlier one

  // Notes the start and the duration of the next event.
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
  // Returns whether a chunk can be written although more events will come. Judging by how late
  // events came so far, hardly any later one belongs into it.
  bool HasChunk() const {
    if (rows.events.size() < kMaxInOrder || rows.events.size() > kMaxLate) return false;
    return (uint64_t(newest_ns) - uint64_t(rows.events[kEarlyEvents].ts_ns)) / 2 >= most_late_ns;
  }
  size_t Weight() const { return rows.events.size() + (rows.args.size() + samples.size()) / 2; }
};

// The rows of a track in order. One object serves one track after the other.
class SortedRows {
 public:
  // Switches to `track`, whose rows must not change until the next call. Sorts them unless they
  // came in order.
  void Look(TrackBuffer& track);
  // Returns the events in order. Copy copies them with all changes that the caller makes.
  std::vector<Event>& events() { return track_->in_order ? track_->rows.events : sorted_; }
  // Returns the end of those events from `from` to `to` at most whose arguments fit one chunk.
  size_t Fitting(size_t from, size_t to) const;
  // Copies the events [from, to), with their arguments and labels, into `copy`, which is empty.
  void Copy(size_t from, size_t to, EventRows* copy) const;

 private:
  // Returns the index among the rows of the event that is `i`th in order.
  size_t Row(size_t i) const { return track_->in_order ? i : order_[i]; }

  TrackBuffer* track_ = nullptr;
  // Filled if the events did not come in order.
  std::vector<Event> sorted_;
  std::vector<uint32_t> order_, late_;
};

}  // namespace xlaprof
