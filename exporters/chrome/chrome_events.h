// Writes a store's events as records of a Chrome trace. Times are microseconds with three decimals,
// from an origin that makes none negative, because Perfetto drops negative times. Perfetto holds
// times as doubles, which are exact to the nanosecond for 104 days.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "exporters/output/json_writer.h"
#include "exporters/output/text_fragments.h"
#include "exporters/timeline/chunk_names.h"
#include "exporters/timeline/flow_pairs.h"
#include "exporters/timeline/overlap.h"
#include "exporters/timeline/timeline_layout.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {

// A thread that a track's events are drawn on, and the beginning of its records.
struct ChromeLane {
  int64_t tid;
  OwnPiece head;  // `,\n{"ph":"X","pid":1,"tid":2,"ts":`
};

class ChromeEvents {
 public:
  // The trace's time 0 is the store's `origin_ns`. All arguments must outlive this object.
  ChromeEvents(const Store& store, TimelineLayout& layout, const FlowPairs& flows,
               int64_t origin_ns, JsonWriter& json);

  // Writes a metadata record, such as thread_name. `value` is JSON.
  void Metadata(int64_t pid, int64_t tid, std::string_view what, std::string_view key,
                std::string_view value);
  // Writes the name and order of a thread. Lanes after the first have a number in their name.
  void NameThread(const TimelineTrack& track, int64_t tid, size_t lane, int64_t sort);

  // Writes all events of a track inside the chosen part of the run. The track is the `rank`-th that
  // is written.
  absl::Status Track(const TimelineTrack& track, uint32_t rank);

  uint64_t RelativeNs(int64_t ts_ns) const { return uint64_t(ts_ns) - uint64_t(origin_ns_); }
  int64_t event_count() const { return event_count_; }
  int64_t skipped_chunks() const { return events_ ? events_->skipped_chunks() : 0; }
  int64_t skipped_arguments() const { return events_ ? events_->skipped_arguments() : 0; }

 private:
  void OpenLanes(const TimelineTrack& track, size_t count, int64_t sort);
  void Batch(const TimelineTrack& track, uint32_t rank, const EventBatch& batch,
             const ChunkArguments& arguments);
  void AsyncBatch(const TimelineTrack& track, const EventBatch& batch,
                  const ChunkArguments& arguments);
  // An event that belongs to no thread. Nested ones form one operation.
  struct OpenAsync {
    int64_t end_ns;  // INT64_MAX: it never ended, or ended later than that
    bool endless;
    uint64_t relative_end_ns;
    StringId category, name;
  };
  struct AsyncLane {
    int64_t id = 0;
    std::vector<OpenAsync> open;  // outermost first
  };
  // Returns a lane where the event nests or nothing is open, or null if too many lanes are open.
  AsyncLane* PlaceAsync(const TimelineTrack& track, int64_t ts_ns, int64_t end_ns, StringId name);
  void EndAsyncs(const TimelineTrack& track, int64_t ts_ns, AsyncLane& lane);
  // Writes a record without its closing brace.
  void AsyncRecord(char phase, const TimelineTrack& track, int64_t id, uint64_t relative_ns,
                   StringId category, StringId name);
  // The part of a record that all events of a name in a chunk share.
  struct NameFragment {
    bool made = false;
    StringId category = 0;
    OwnPiece text;         // `,"cat":"host","name":"x"`, then `,"args":{"flops":12}` of the name
    size_t name_size = 0;  // size of the part of `text` before the arguments
  };
  const NameFragment& FragmentOf(const EventBatch& batch, size_t i,
                                 const ChunkArguments& arguments);
  void MakeFragment(StringId category, StringId name, std::span<const Argument> arguments,
                    NameFragment& fragment);
  // Writes the arguments of an event that has its own; they follow the name.
  void Arguments(const ChunkArguments& arguments, size_t index, const NameFragment& fragment);
  void Pairs(std::span<const Argument> arguments, JsonWriter& json);
  void Value(const ArgValue& value, JsonWriter& json);
  // Writes the arrow that the event itself carries, if any. Leaves its other arrows in arrows_.
  void BindArrow(uint32_t rank, const EventBatch& batch, size_t i);
  void ArrowRecords(const ChromeLane& lane, uint64_t relative_ns);

  const Store& store_;
  TimelineLayout& layout_;
  const FlowPairs& flows_;
  const bool has_flows_;
  const int64_t origin_ns_;
  JsonWriter& json_;
  TextFragments names_, categories_, keys_, texts_;
  std::optional<OrderedEvents> events_;
  Lanes lanes_;
  std::vector<ChromeLane> open_lanes_;  // the lanes of the track being written
  std::vector<AsyncLane> async_lanes_;  // lanes of its events that belong to no thread
  struct ArrowEnd {
    char phase;  // s or f
    uint64_t number;
  };
  std::vector<ArrowEnd> arrows_;  // the arrows of the event being written
  ChunkNames<NameFragment> fragments_;
  int64_t event_count_ = 0, async_count_ = 0;
};

}  // namespace xlaprof
