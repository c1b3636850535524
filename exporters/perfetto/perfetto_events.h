// Events of a store's tracks as events of a Perfetto trace.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <optional>
#include <string>
#include <vector>

#include "exporters/perfetto/perfetto_packets.h"
#include "exporters/timeline/chunk_names.h"
#include "exporters/timeline/flow_pairs.h"
#include "exporters/timeline/marks.h"
#include "exporters/timeline/overlap.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {

class PerfettoEvents {
 public:
  // `origin_ns` is the store's time at which the trace's times begin. All outlive this object.
  PerfettoEvents(const Store& store, const FlowPairs& flows, int64_t origin_ns,
                 PerfettoPackets& packets);

  // All events of a track, the `rank`-th that is written, inside the store's slice; `process` is
  // the uuid of its process.
  absl::Status Track(const TimelineTrack& track, uint64_t process, uint32_t rank);
  void Marks(const MarkTrack& track, uint64_t process);
  absl::Status Counters(const absl::flat_hash_map<int64_t, uint64_t>& uuid_of_track);

  int64_t event_count() const { return event_count_; }
  // What cannot be said: starts outside of the trace's times, ends behind them (such events are
  // written as if they never ended), and samples with no finite value.
  int64_t out_of_time() const { return out_of_time_; }
  int64_t endless() const { return endless_; }
  int64_t not_finite() const { return not_finite_; }
  int64_t skipped_chunks() const { return events_ ? events_->skipped_chunks() : 0; }
  int64_t skipped_arguments() const { return events_ ? events_->skipped_arguments() : 0; }

 private:
  // A track in the file, which holds those events of one in the store that nest.
  struct Lane {
    OwnPiece track, end;           // the field that names it; its events' ends
    std::vector<uint64_t> end_ns;  // of the open events, outermost first
  };
  // What is the same for all events of a name in a chunk.
  struct NameFields {
    bool made = false;
    StringId category = 0;
    OwnPiece fields;       // name and category, then the arguments of the name
    size_t name_size = 0;  // of `fields`, up to the arguments
  };
  void Batch(uint32_t rank, const EventBatch& batch, const ChunkArguments& arguments);
  const NameFields& FieldsOf(const EventBatch& batch, size_t i, const ChunkArguments& arguments);
  void MakeFields(StringId name, StringId category, std::span<const Argument> arguments,
                  NameFields& made);
  // Arguments and flows of an event, in more_.
  void More(uint32_t rank, const EventBatch& batch, size_t i, const ChunkArguments& arguments);
  // An event with a start that can be said, in the lane where it nests. `dur_ns` is
  // kUnknownDuration where it never ended.
  void Put(int64_t ts_ns, int64_t dur_ns, Piece fields, std::string_view more);
  Lane& LaneOf(int64_t ts_ns, int64_t end_ns);
  void AddLane(uint64_t uuid);
  // Ends what is over at `ts_ns`.
  void End(Lane& lane, uint64_t ts_ns);
  void OpenTrack(Lanes::Nesting nesting, uint64_t uuid, uint64_t parent, std::string_view name);
  void CloseTrack();
  bool Holds(int64_t ts_ns) const;
  uint64_t RelativeNs(int64_t ts_ns) const { return uint64_t(ts_ns) - uint64_t(origin_ns_); }

  const Store& store_;
  const FlowPairs& flows_;
  const bool has_flows_;
  const int64_t origin_ns_;
  PerfettoPackets& packets_;
  std::optional<OrderedEvents> events_;
  ChunkNames<NameFields> names_;
  // Of the track being written.
  Lanes places_;
  std::vector<Lane> lanes_;
  uint64_t parent_ = 0;
  std::string name_;
  ProtoText more_;
  int64_t event_count_ = 0, out_of_time_ = 0, endless_ = 0, not_finite_ = 0;
};

}  // namespace xlaprof
