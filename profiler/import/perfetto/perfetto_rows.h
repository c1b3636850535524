// Makes the rows of a store from the packets of a Perfetto trace, in the order of the file.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <memory>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/odd_input.h"
#include "profiler/import/perfetto/perfetto_args.h"
#include "profiler/import/perfetto/perfetto_sequence.h"
#include "profiler/import/perfetto/perfetto_survey.h"
#include "profiler/import/perfetto/perfetto_tracks.h"
#include "profiler/import/trace/trace_rows.h"

namespace xlaprof::pftrace {

class PerfettoRows {
 public:
  // `shift_ns` converts times of the trace's clock to the store's. All must outlive this object.
  PerfettoRows(ImportContext& context, Survey& survey, int64_t shift_ns, OddInput& odd);

  // Takes a packet at an offset of the file.
  absl::Status Take(const Packet& packet, int64_t offset);
  // Does what needs all events: open slices, tracks out of order, names, facts.
  absl::Status Finish();

 private:
  struct Track {
    TrackPlace place;
    TrackSlices slices;
    double value = 0;  // of a counter that counts differences
  };

  absl::Status TakeTexts(const Packet& packet, Sequence& sequence, int64_t offset);
  absl::Status TakeEvent(const Packet& packet, Sequence& sequence, int64_t offset);
  // Returns the time of the event in the store; counts it and returns nothing if it has none.
  std::optional<int64_t> StoreTime(const std::optional<Moment>& moment, int64_t offset);
  // These read parts of event_ into slice_. The first returns false if the event is to be left out.
  absl::StatusOr<bool> TakeType(const Sequence& sequence, int64_t offset);
  absl::Status TakeName(const Sequence& sequence, int64_t offset);
  absl::Status TakeCategories(const Sequence& sequence, int64_t offset);
  absl::StatusOr<StringId> TextOf(const Sequence& sequence, Texts kind, uint64_t iid,
                                  int64_t offset);
  absl::StatusOr<Track*> TrackOfUuid(uint64_t uuid, int64_t offset);
  absl::Status AddSample(uint64_t uuid, int64_t ts_ns, double value, int64_t offset);
  absl::Status Emit(Track& track, const Slice& slice);
  void CountOther(uint32_t field, int64_t offset);

  ImportContext& context_;
  Survey& survey_;
  const int64_t shift_ns_;
  OddInput& odd_;
  TraceRows rows_;
  PerfettoTracks places_;
  TraceTexts texts_;
  ClockReadings readings_;
  absl::flat_hash_map<uint32_t, Sequence> sequences_;
  absl::flat_hash_map<uint64_t, std::unique_ptr<Track>> tracks_;
  Track* last_track_ = nullptr;
  TrackEvent event_;
  Slice slice_;
  uint32_t event_count_ = 0;
  std::string joined_;                 // scratch: categories
  std::map<uint32_t, int64_t> other_;  // packets that are not read, by field
  int64_t first_other_ = 0;            // offset of the first of them
};

}  // namespace xlaprof::pftrace
