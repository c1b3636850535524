// Writes the events of a store's tracks as events of a Perfetto trace.
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
  // The trace's time 0 is the store's `origin_ns`. All arguments must outlive this object.
  PerfettoEvents(const Store& store, const FlowPairs& flows, int64_t origin_ns,
                 PerfettoPackets& packets);

  // Writes all events of a track inside the store's slice. The track is the `rank`-th that is
  // written. `process` is the uuid of its process.
  absl::Status Track(const TimelineTrack& track, uint64_t process, uint32_t rank);
  void Marks(const MarkTrack& track, uint64_t process);
  absl::Status Counters(const absl::flat_hash_map<int64_t, uint64_t>& uuid_of_track);

  int64_t event_count() const { return event_count_; }
  // Return how many items the trace cannot express: starts outside the trace's times, ends beyond
  // them (such events are written as if they never ended), and counter values that are not finite.
  int64_t out_of_time() const { return out_of_time_; }
  int64_t endless() const { return endless_; }
  int64_t not_finite() const { return not_finite_; }
  int64_t skipped_chunks() const { return events_ ? events_->skipped_chunks() : 0; }
  int64_t skipped_arguments() const { return events_ ? events_->skipped_arguments() : 0; }

 private:
  // A track in the file. It holds events of one track of the store that nest.
  struct Lane {
    OwnPiece track, end;           // the field that names the track; the packet that ends an event
    std::vector<uint64_t> end_ns;  // ends of the open events, outermost first
  };
  // The fields that all events of a name in a chunk share.
  struct NameFields {
    bool made = false;
    StringId category = 0;
    OwnPiece fields;       // name and category, then the arguments of the name
    size_t name_size = 0;  // size of the part of `fields` before the arguments
  };
  void Batch(uint32_t rank, const EventBatch& batch, const ChunkArguments& arguments);
  const NameFields& FieldsOf(const EventBatch& batch, size_t i, const ChunkArguments& arguments);
  void MakeFields(StringId name, StringId category, std::span<const Argument> arguments,
                  NameFields& made);
  // Puts the arguments and flows of an event into more_.
  void More(uint32_t rank, const EventBatch& batch, size_t i, const ChunkArguments& arguments);
  // Writes an event in the lane where it nests. The trace must be able to express its start.
  // `dur_ns` is kUnknownDuration if the event never ended.
  void Put(int64_t ts_ns, int64_t dur_ns, Piece fields, std::string_view more);
  Lane& LaneOf(int64_t ts_ns, int64_t end_ns);
  void AddLane(uint64_t uuid);
  // Ends the events that are over by `ts_ns`.
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
  // State of the track being written.
  Lanes places_;
  std::vector<Lane> lanes_;
  uint64_t parent_ = 0;
  std::string name_;
  ProtoText more_;
  int64_t event_count_ = 0, out_of_time_ = 0, endless_ = 0, not_finite_ = 0;
};

}  // namespace xlaprof
