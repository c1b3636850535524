// Reads a Perfetto trace for the first time: how its clocks are related, which tracks it has, which
// events its flows connect, and which program wrote it. Perfetto may give all of this after the
// events that need it.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiler/import/perfetto/perfetto_clocks.h"
#include "profiler/import/perfetto/perfetto_sequence.h"
#include "profiler/import/trace/trace_kind.h"

namespace xlaprof::pftrace {

// Finds which events the flows of a Perfetto trace connect. Events with the same flow id are
// connected in the order of time, up to the one that terminates the flow.
class Flows {
 public:
  // Adds a flow of the event with this number. Events are numbered in the order of the file.
  void Add(uint64_t id, uint32_t event, uint64_t clock, int64_t ns, bool last) {
    uses_.push_back({id, ns, clock, event, last});
  }
  // Connects the events, when all have been added. An event of the store has one flow that enters
  // it and one that leaves it: returns how many connections more there are.
  int64_t Connect(const Clocks& clocks, int64_t source_id);

  struct Ends {
    uint64_t in = 0, out = 0;  // 0: none
  };
  // Returns the flows of an event. Call it for rising numbers of events.
  Ends Of(uint32_t event) {
    while (next_ < ends_.size() && ends_[next_].event < event) ++next_;
    return next_ < ends_.size() && ends_[next_].event == event ? ends_[next_].ends : Ends();
  }

 private:
  struct Use {
    uint64_t id;
    int64_t ns;
    uint64_t clock;
    uint32_t event;
    bool last;
  };
  struct EventEnds {
    uint32_t event;
    Ends ends;
  };
  std::vector<Use> uses_;
  std::vector<EventEnds> ends_;  // by event
  size_t next_ = 0;
};

// A track as its descriptors say; later ones add to earlier ones.
struct TrackInfo {
  uint64_t uuid = 0, parent = 0;
  bool described = false, has_parent = false;
  bool is_process = false, is_thread = false, is_counter = false;
  std::string name;  // its own, or that of its thread or process
  std::string labels;
  int64_t pid = 0, tid = 0, rank = 0;
  std::string unit;  // of a counter; empty if it has none
  int64_t multiplier = 1;
  bool incremental = false;

  // Whether the events of the track come in the order of time, by one clock.
  bool in_order = true;
  ClockKey clock = 0;
  int64_t last_ns = INT64_MIN;
};

// The track in which our own export puts steps and findings, which are found again.
inline constexpr std::string_view kOwnGroup = "xlaprof: findings and steps";

class Survey {
 public:
  // Reads the whole file; `source_id` makes its flows unique in the store. Parts that cannot be
  // read are left out: whoever reads the file again counts them.
  Survey(std::string_view file, int64_t source_id);

  TraceWriter writer() const { return writer_; }
  const Clocks& clocks() const { return clocks_; }
  // Returns the time of the first event in the trace's clock; nothing if there is no event.
  std::optional<int64_t> first_ns() const { return first_ns_; }
  Flows& flows() { return flows_; }
  int64_t flows_left_out() const { return flows_left_out_; }
  // Returns the track, or null if nothing in the file describes or uses it.
  const TrackInfo* Track(uint64_t uuid) const {
    const auto found = tracks_.find(uuid);
    return found == tracks_.end() ? nullptr : found->second.get();
  }
  // Returns the name or the labels of a process, as any of its tracks says them; "" if none does.
  std::string ProcessName(int64_t pid) const;
  std::string ProcessLabels(int64_t pid) const;

 private:
  struct Used {
    int64_t events = 0, first_ns = INT64_MAX;
  };
  TrackInfo& TrackOfUuid(uint64_t uuid);
  void Take(const Packet& packet);
  void TakeSnapshot(const Packet& packet);
  void TakeTrack(const TrackDescriptor& track);
  void TakeEvent(const Packet& packet, Sequence& sequence);
  void SeeText(Texts kind, std::string_view text);
  void RelateClocks();

  TraceWriter writer_ = TraceWriter::kOther;
  bool is_kineto_ = false, is_xprof_ = false, is_own_ = false;
  absl::flat_hash_map<uint32_t, Sequence> sequences_;
  ClockReadings readings_;
  Clocks clocks_;
  uint32_t primary_clock_ = 0;  // 0: the file does not say
  absl::flat_hash_map<ClockKey, std::unique_ptr<Used>> used_;
  Used* used_clock_ = nullptr;  // that of last_clock_
  ClockKey last_clock_ = 0;
  std::optional<int64_t> first_ns_;
  uint32_t event_count_ = 0;
  TrackEvent event_;
  Flows flows_;
  int64_t flows_left_out_ = 0;
  absl::flat_hash_map<uint64_t, std::unique_ptr<TrackInfo>> tracks_;
  std::map<int64_t, std::pair<std::string, std::string>> processes_;  // names and labels
  TrackInfo* last_track_ = nullptr;
};

// Returns the uuid by which the thread of a sequence with a ThreadDescriptor is known.
uint64_t UuidOfThread(int64_t pid, int64_t tid);

// Returns the track of an event.
inline uint64_t TrackOf(const TrackEvent& event, const Sequence& sequence) {
  if (event.has_track) return event.track;
  if (sequence.defaults.has_track) return sequence.defaults.track;
  if (sequence.has_thread) return UuidOfThread(sequence.thread.pid, sequence.thread.tid);
  return 0;
}

}  // namespace xlaprof::pftrace
