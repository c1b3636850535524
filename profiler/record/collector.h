// Turns published slots into rows of a store. The thread of a live recording does this
// continuously, recovering a ring does it once. Internal to profiler/record.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "profiler/record/clock.h"
#include "profiler/record/ring_file.h"
#include "profiler/store/chunk_rows.h"
#include "profiler/store/events.h"

namespace xlaprof::record {

// Returns the number of events in a ring that are not yet committed.
int64_t WaitingEvents(const RingFile& file);
// Returns the number of events that found no room in a ring.
int64_t DroppedEvents(RingFile& file);

class Collector {
 public:
  // `store` and `file` must outlive this object. `store` must contain recording `recording_id` of
  // process `process_id`.
  Collector(Store& store, RingFile& file, Clock& clock, int64_t recording_id, int64_t process_id);

  // Takes at most `max_slots` slots that a segment's thread has published. Returns the number
  // taken.
  absl::StatusOr<uint64_t> Take(uint32_t segment, uint64_t max_slots);
  // Notes the scopes that are open now. TakeOpen turns those that no later taken slot ends into
  // events without an end. Call TakeOpen after everything else was taken.
  void LookForOpen();
  // If the process was killed, `alive_ns` is a time of the store at which it still ran. The events
  // then get the argument `open_ns`: for how long the scope had been open when the process was last
  // seen, which is at most a commit interval before the kill.
  absl::Status TakeOpen(OptInt alive_ns = {});
  // Writes the events that were taken, as chunks. Write does so, too.
  absl::Status WriteEvents();
  // Writes what was taken, and how far taking got. The caller commits the transaction. Only then
  // may the segments' heads move to taken().
  absl::Status Write();

  uint64_t taken(uint32_t segment) const { return threads_[segment].taken; }
  size_t pending() const { return pending_; }  // events that are not yet in chunks
  bool has_news() const;                       // whether Write has events or drops to report
  int64_t events() const { return events_; }
  int64_t threads() const { return thread_count_; }
  int64_t dropped() const;
  // Returns whether everything was taken that a thread published before it ended.
  bool finished(uint32_t segment) const;
  // Returns whether scopes are open in a segment.
  bool has_open(uint32_t segment) const;
  // Restores the segments' progress from recording_thread, and events(), after the store was
  // reopened.
  absl::Status Restore();

 private:
  struct Thread {
    uint64_t taken = 0, first = UINT64_MAX;
    int64_t track_id = 0, events = 0, dropped = 0;
    uint32_t name = 0;  // the track's name, as a string of the file
    // Slots that were taken and are not yet written; they stay in the ring. They are in the order
    // in which scopes end, so that an outer scope follows its inner ones.
    std::vector<const Slot*> slots;
    std::vector<Slot> open;   // scopes that TakeOpen added
    uint64_t last_begin = 0;  // begin of the last slot taken
    uint32_t last_site = 0;
    bool changed = false;
  };
  struct Sited {
    bool known = false;
    StringId name = 0, category = 0;
    StringId label = 0;  // the user's category; 0: none
    StringId file = 0;   // 0: the place is not known
    int64_t line = 0;
    int64_t counter_track = 0;
  };
  void Forget(uint64_t begin, uint32_t site);
  absl::Status Begin(uint32_t segment);
  absl::Status Rename(uint32_t segment);
  int64_t DroppedOf(uint32_t segment) const;
  absl::Status AddCounter(const Slot& slot);
  absl::Status AddSlice(const Segment& from, const Slot& slot);
  absl::StatusOr<int64_t> TrackOf(StringId name);
  void AddPlace(const Sited& site);
  void SortByBegin(std::span<const Slot*> slots);
  absl::Status WriteThread(Thread& thread, const Segment& from);
  absl::Status WriteChunk(int64_t track_id, const Segment& from,
                          std::span<const Slot* const> slots);
  void SetFlow(std::vector<uint64_t>& column, size_t at, uint64_t flow);
  absl::Status AddRest(const Segment& from, const Slot& slot, size_t at);
  template <class Fn>
  absl::Status EachArg(const Segment& from, const Slot& slot, Fn fn);
  absl::Status AddArgs(const Segment& from, const Slot& slot, size_t at);
  absl::StatusOr<Sited*> SiteOf(uint32_t id);
  absl::StatusOr<StringId> StringOf(uint32_t id);
  absl::Status WriteSteps();
  absl::Status TellLosses();

  // One kind of loss, with its code in import_issue.
  struct Loss {
    const char *code, *advice;
    uint64_t (*count)(RingFile& file);
    uint64_t told;
  };

  Store& store_;
  RingFile& file_;
  Clock& clock_;
  const int64_t recording_id_, process_id_;
  ChunkPacker packer_;
  ChunkRows rows_;
  EventWriter samples_;
  std::vector<Thread> threads_;
  std::multimap<std::pair<uint64_t, uint32_t>, std::pair<uint32_t, Slot>>
      open_;  // scopes that LookForOpen found, by begin and site, with their segments
  std::vector<Sited> sites_;
  std::vector<const Slot*> waiting_;  // scratch space of SortByBegin
  std::vector<StringId> strings_;
  absl::flat_hash_map<StringId, int64_t> counter_tracks_;  // by name, whichever site counts
  absl::flat_hash_map<StringId, int64_t> slice_tracks_;    // by name
  StringId file_key_ = 0, line_key_ = 0, label_key_ = 0;
  std::shared_ptr<NameArgs> places_ = std::make_shared<NameArgs>();
  std::vector<StepRow> steps_;
  uint64_t last_end_ = 0;  // the latest end of a scope that was taken, in ticks
  OptInt alive_ns_;        // a time at which the killed process still ran
  StringId open_key_ = 0;
  int64_t next_step_ = 0, events_ = 0, thread_count_ = 0;
  size_t pending_ = 0;
  std::vector<Loss> losses_;
  ChunkInput chunk_;
  PackedChunk packed_;
};

}  // namespace xlaprof::record
