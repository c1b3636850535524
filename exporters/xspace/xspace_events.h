// Writes the events and counter values of one plane of an XSpace.
#pragma once

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "exporters/output/proto_file.h"
#include "exporters/timeline/chunk_names.h"
#include "exporters/xspace/kernel_details.h"
#include "exporters/xspace/xspace_layout.h"
#include "exporters/xspace/xspace_tables.h"
#include "profiler/store/ordered_events.h"

namespace xlaprof {

class XSpaceEvents {
 public:
  // Makes the writer. `origin_ns` is the file's time 0 and `end_ns` its end, in the store's time.
  // All arguments must outlive this object.
  static absl::StatusOr<XSpaceEvents> Make(const Store& store, int64_t origin_ns, int64_t end_ns,
                                           ProtoFile& file);

  // Writes all events of a line inside the chosen part of the run, and nothing if there are none.
  absl::Status Line(const XSpacePlane& plane, const XSpaceLine& line, XSpaceTables& tables);
  absl::Status Counters(const XSpacePlane& plane, XSpaceTables& tables);

  // Begins a line whose events the caller puts: Begin, Put..., End. `first_ns` must not be after
  // any of them.
  void BeginLine(const XSpaceLine& line, int64_t first_ns);
  // Writes an event with the statistics in `stats` (XEvent's field 4). An event too far from its
  // line's start is only counted.
  void PutEvent(int64_t name, int64_t ts_ns, int64_t dur_ns, std::string_view stats);
  void EndLine() { file_->End(); }

  int64_t event_count() const { return event_count_; }
  int64_t too_far() const { return too_far_; }  // events more than 100 days from their line's first
  int64_t unmarked_steps() const;               // steps without an event
  int64_t skipped_chunks() const { return events_.skipped_chunks(); }
  int64_t skipped_arguments() const { return events_.skipped_arguments(); }

 private:
  XSpaceEvents(const Store& store, int64_t origin_ns, int64_t end_ns, ProtoFile& file,
               OrderedEvents events);
  // The data that all events of a name in a chunk share.
  struct NameOfChunk {
    bool made = false;
    StringId category = 0;
    int64_t number = 0;
    std::vector<Argument> on_event;  // shared, but readers expect them on the events
  };
  const NameOfChunk& NameOf(const EventBatch& batch, size_t i, const ChunkArguments& arguments,
                            XSpaceTables& tables);
  void Batch(const XSpacePlane& plane, const EventBatch& batch, const ChunkArguments& arguments,
             XSpaceTables& tables);
  void AddFlows(uint64_t flow_in, uint64_t flow_out, XSpaceTables& tables);
  void AddStep(const XSpacePlane& plane, int64_t ts_ns, int64_t dur_ns, XSpaceTables& tables);
  const Argument* Find(StringId key) const;

  const Store* store_;
  int64_t origin_ns_, end_ns_, line_ns_ = 0;
  ProtoFile* file_;
  OrderedEvents events_;
  struct Step {
    OptInt number;
    bool is_marked = false;  // an event marks this step
  };
  absl::flat_hash_map<std::tuple<int64_t, int64_t, int64_t>, Step> steps_;  // by process and time
  absl::flat_hash_set<StringId> keys_on_event_;
  KernelDetails kernels_;
  StringId step_ = 0, root_key_ = 0, step_key_ = 0, producer_key_ = 0, consumer_key_ = 0,
           correlation_key_ = 0;
  ChunkNames<NameOfChunk> names_;
  std::vector<Argument> all_;  // arguments of the event being written
  ProtoText stats_, event_, field_;
  int64_t event_count_ = 0, too_far_ = 0;
};

}  // namespace xlaprof
