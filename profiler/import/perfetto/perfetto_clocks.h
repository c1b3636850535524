// Converts times of the clocks of a Perfetto trace to the clock in which the trace is shown.
//
// A ClockSnapshot gives the readings of several clocks at one moment. A time of one clock becomes a
// time of another by the last snapshot of both before it, or else by the first. Clocks that no
// snapshot has in common are related through others.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/import/perfetto/perfetto_wire.h"

namespace xlaprof::pftrace {

// Identifies a clock. Clocks 64 to 127 belong to one sequence of packets. 0 is the trace's clock,
// whichever that is.
using ClockKey = uint64_t;
inline ClockKey KeyOf(uint32_t clock, uint32_t sequence) {
  const bool own = clock >= kFirstSequenceClock && clock <= kLastSequenceClock;
  return own ? uint64_t(sequence) << 32 | clock : clock;
}

// Gives the readings of clocks in ns, in the order of the file. Some clocks count in other units,
// or by what has passed since the packet before.
class ClockReadings {
 public:
  // Reads a snapshot. `each(key, ns)` is called with its readings that are not too large.
  template <class Fn>
  void Read(std::string_view snapshot, uint32_t sequence, Fn&& each) {
    wire::Reader in(snapshot);
    Clock clock;
    while (in.Next()) {
      if (!in.Is(1, wire::kBytes) || !Decode(in.bytes(), &clock)) continue;
      const ClockKey key = KeyOf(clock.id, sequence);
      if (clock.incremental || clock.multiplier_ns > 1) {
        units_[key] = {clock.multiplier_ns, clock.incremental, 0};
      } else if (!units_.empty()) {
        units_.erase(key);
      }
      const std::optional<int64_t> ns = Of(key, clock.timestamp);
      if (ns) each(key, *ns);
    }
  }
  // Returns the time of a packet in ns of its clock, or nothing if it is too large.
  std::optional<int64_t> Of(ClockKey key, uint64_t timestamp) {
    if (units_.empty()) [[likely]]
      return timestamp <= kMax ? std::optional<int64_t>(int64_t(timestamp)) : std::nullopt;
    return InUnits(key, timestamp);
  }

 private:
  static constexpr uint64_t kMax = uint64_t(1) << 62;
  std::optional<int64_t> InUnits(ClockKey key, uint64_t timestamp);

  struct Units {
    uint64_t multiplier_ns = 1;
    bool incremental = false;
    uint64_t last_ns = 0;
  };
  absl::flat_hash_map<ClockKey, Units> units_;
};

class Clocks {
 public:
  void Add(std::vector<std::pair<ClockKey, int64_t>> snapshot) {
    if (snapshot.size() > 1) snapshots_.push_back(std::move(snapshot));
  }
  // Takes the clock in which the trace is shown. Call it when all snapshots are there.
  void Relate(ClockKey trace_clock);
  // Returns a time in the trace's clock, or nothing if no snapshot relates the two clocks.
  std::optional<int64_t> ToTrace(ClockKey key, int64_t ns) const;
  bool Knows(ClockKey key) const { return IsTraces(key) || links_.contains(key); }
  // Returns the Unix time at the trace's 0, if a snapshot has it.
  std::optional<int64_t> EpochNs() const;

 private:
  bool IsTraces(ClockKey key) const { return key == 0 || key == trace_clock_; }
  // How a clock is related to one that is nearer to the trace's.
  struct Link {
    ClockKey towards = 0;
    std::vector<std::pair<int64_t, int64_t>> readings;  // of both clocks, by the first
  };

  std::vector<std::vector<std::pair<ClockKey, int64_t>>> snapshots_;
  ClockKey trace_clock_ = kBoottime;
  absl::flat_hash_map<ClockKey, Link> links_;
};

}  // namespace xlaprof::pftrace
