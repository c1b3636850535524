// Makes slices of the beginnings and ends on one track of a Perfetto trace. An end belongs to the
// last beginning without one; if it has a name, to the last of that name.
#pragma once

#include <functional>
#include <vector>

#include "profiler/import/odd_input.h"
#include "profiler/import/perfetto/perfetto_wire.h"
#include "profiler/store/events.h"

namespace xlaprof::pftrace {

// One event of a track, or what is known of it so far. Times are those of the store.
struct Slice {
  EventType type = EventType::kNone;
  bool has_name = false, has_ended = false;
  int64_t ts_ns = 0, dur_ns = 0;
  StringId name = 0, cat = 0;
  uint64_t flow_in = 0, flow_out = 0;
  int64_t offset = 0;
  std::vector<Argument> args;

  // Makes it as if new, with the same room for arguments.
  void Clear();
};

class TrackSlices {
 public:
  using Emit = std::function<absl::Status(const Slice&)>;

  // Takes the next event in the order of time: a beginning, an end or an instant. Calls `emit` with
  // each event that is complete. `slice` is used up; its memory may be reused.
  absl::Status Add(Slice& slice, OddInput& odd, const Emit& emit);
  // Keeps an event of a track whose events are out of order, for Finish.
  void Keep(const Slice& slice) { kept_.push_back(slice); }
  // Takes all events that were kept, in order. What has not ended has an unknown duration.
  absl::Status Finish(OddInput& odd, const Emit& emit);

 private:
  // Deeper slices are damage: they would cost memory, and time to find their ends.
  static constexpr size_t kMaxOpen = 4096;
  // A named end is looked for in so many slices.
  static constexpr size_t kMaxSearched = 64;

  absl::Status End(Slice& end, OddInput& odd, const Emit& emit);

  std::vector<Slice> open_;  // the first `size_`; the others are memory to reuse
  size_t size_ = 0;
  int64_t too_deep_ = 0;  // open slices beyond kMaxOpen
  std::vector<Slice> kept_;
};

}  // namespace xlaprof::pftrace
