// Lists the lanes of the viewer: a store's tracks in display order, with the number of rows of
// each, and the time at which the view begins (docs/formats/view.md).
#pragma once

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "profiler/store/ordered_events.h"

namespace xlaprof {

struct ViewProcess {
  int64_t id = 0;  // ref process; 0: no process
  std::string name, detail;
};

struct ViewLane {
  int64_t id = 0;  // ref track
  int64_t process_id = 0;
  TrackKind kind;
  std::string name;
  OptText device;
  int64_t rows = 1, events = 0;  // number of rows, and of events or counter values
  bool chunks_in_order = true;   // the events are in order of start
};

class ViewLanes {
 public:
  // Deeper events are merged into the last row.
  static constexpr int64_t kMaxRows = 256;

  // Makes the lanes. Reads the start, length and depth of every event of the store's slice once.
  static absl::StatusOr<ViewLanes> Make(const Store& store);

  const std::vector<ViewProcess>& processes() const { return processes_; }
  const std::vector<ViewLane>& lanes() const { return lanes_; }
  const ViewLane* Find(int64_t id) const;  // null: no such lane

  int64_t damaged_chunks() const { return damaged_chunks_; }  // their events are missing

  // Returns the row of event `i` of a batch: its depth, or a free row if that one is taken. `batch`
  // must have the column depth.
  uint16_t RowOf(const EventBatch& batch, size_t i) const {
    return rows_of_chunk_.empty() ? Capped(batch.depth[i]) : PlacedRow(batch, i);
  }

  // Convert between the store's time and the view's, which begins at 0.
  int64_t origin_ns() const { return origin_ns_; }
  int64_t end_ns() const { return ToView(last_ns_); }
  int64_t ToView(int64_t store_ns) const {
    int64_t apart;
    if (__builtin_sub_overflow(store_ns, origin_ns_, &apart))
      return store_ns < origin_ns_ ? -kMaxSpanNs : kMaxSpanNs;
    return std::clamp(apart, -kMaxSpanNs, kMaxSpanNs);
  }
  int64_t ToStore(int64_t view_ns) const;
  // Times further from the origin are treated as this far.
  static constexpr int64_t kMaxSpanNs = int64_t{1} << 61;

 private:
  static uint16_t Capped(uint16_t depth) { return std::min<uint16_t>(depth, kMaxRows - 1); }
  uint16_t PlacedRow(const EventBatch& batch, size_t i) const;
  absl::Status FindSpan(const Store& store);
  absl::Status ReadTracks(const Store& store);
  absl::Status CountRows(const Store& store, ViewLane& lane);
  absl::Status PlaceSideBySide(const Store& store, ViewLane& lane);

  std::vector<ViewProcess> processes_;
  std::vector<ViewLane> lanes_;
  absl::flat_hash_map<int64_t, size_t> place_of_;  // index of a lane, by id
  // Rows of events, by chunk id, for chunks of lanes in which events overlap.
  absl::flat_hash_map<int64_t, std::vector<uint16_t>> rows_of_chunk_;
  int64_t origin_ns_ = 0, last_ns_ = 0, damaged_chunks_ = 0;
};

// Returns the id of event `i` of a batch. Ids of damaged stores may wrap.
inline int64_t EventId(const EventBatch& batch, size_t i) {
  return int64_t(uint64_t(batch.first_event_id) + i);
}

// Returns the end of an event in the store's time, or INT64_MAX if it never ended.
inline int64_t EndOf(int64_t ts_ns, int64_t dur_ns) {
  int64_t end_ns;
  if (dur_ns < 0 || __builtin_add_overflow(ts_ns, dur_ns, &end_ns)) return INT64_MAX;
  return end_ns;
}

// Calls `fn(batch, i)` for the events of a lane that overlap [from_ns, to_ns] (the store's time),
// by start, then the longest first. Returns the number of damaged chunks, which are skipped.
// `columns` has EventColumn bits; start and duration are always read.
template <class Fn>
absl::StatusOr<int64_t> EachEvent(const Store& store, const ViewLane& lane, uint32_t columns,
                                  int64_t from_ns, int64_t to_ns, Fn&& fn) {
  EventBatch batch;
  columns |= kStart | kDuration;
  if (lane.chunks_in_order) {
    XP_TRY(EventScanner scanner,
           EventScanner::Make(
               store,
               {.columns = columns, .track_ids = {lane.id}, .from_ns = from_ns, .to_ns = to_ns}));
    while (true) {
      XP_TRY(bool more, scanner.Next(&batch));
      if (!more) return scanner.skipped_chunks();
      for (size_t i = 0; i < batch.size; ++i) fn(batch, i);
    }
  }
  XP_TRY(OrderedEvents events, OrderedEvents::Make(store, columns, false));
  XP_TRY(events.Open(lane.id));
  const ChunkArguments* none = nullptr;
  while (true) {
    XP_TRY(bool more, events.Next(&batch, &none));
    if (!more) return events.skipped_chunks();
    for (size_t i = 0; i < batch.size; ++i) {
      const int64_t ts_ns = batch.ts_ns[i], dur_ns = batch.dur_ns[i];
      if (ts_ns <= to_ns && (dur_ns < 0 ? ts_ns : EndOf(ts_ns, dur_ns)) >= from_ns) fn(batch, i);
    }
  }
}

}  // namespace xlaprof
