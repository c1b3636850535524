// Finds when each device was busy, from the best data in the store: module events of device tracks,
// or else op events (also of a CPU's client threads, until the last part of each op), or else
// executions with a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct Interval {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t length_ns() const { return end_ns - begin_ns; }
};

// The events from which a device's busy time is computed, the best first. A module also covers the
// waits between its ops.
enum class BusyFrom { kModules, kOps, kExecutions };

struct DeviceTime {
  std::string device;  // TPU:0, CPU:0
  std::string label;   // the device, with the rank if several processes have this device name
  int64_t process_id = 0;
  std::vector<Interval> busy;  // disjoint, sorted
  int64_t busy_ns = 0;         // their sum
  BusyFrom from = BusyFrom::kModules;
  bool on_host_threads = false;  // a device of the host's CPU, whose devices share its cores
  Interval span() const {
    return busy.empty() ? Interval{} : Interval{busy.front().begin_ns, busy.back().end_ns};
  }
};

// The devices of the chosen part of the run, sorted by name.
struct DeviceTimes {
  std::vector<DeviceTime> devices;

  static absl::StatusOr<DeviceTimes> Of(const Run& run);
};

// Returns the parts of intervals inside the chosen part's window, if it has one. Union drops parts
// that are empty.
std::vector<Interval> Inside(const Slice& slice, std::vector<Interval> intervals);

// Sorts and merges overlapping or touching intervals.
std::vector<Interval> Union(std::vector<Interval> intervals);

}  // namespace xlaprof
