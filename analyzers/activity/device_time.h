// When each device was busy, from whatever the store has: module events of device tracks; else op
// events (of a CPU's client threads too); else executions with a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct Interval {
  int64_t begin_ns = 0, end_ns = 0;
  int64_t length_ns() const { return end_ns - begin_ns; }
};

struct DeviceTime {
  std::string device;  // TPU:0, CPU:0
  std::string label;   // the same, with the rank where several processes have one of that name
  int64_t process_id = 0;
  std::vector<Interval> busy;  // disjoint, sorted
  int64_t busy_ns = 0;         // their sum
  std::string from;            // module, op or execution: what it was made of
  Interval span() const {
    return busy.empty() ? Interval{} : Interval{busy.front().begin_ns, busy.back().end_ns};
  }
};

// One entry a device, sorted by name. Respects the store's slice. Scans the events once a store;
// later calls copy.
absl::StatusOr<std::vector<DeviceTime>> DeviceTimes(const Store& store);

// Their parts inside the slice's window, where it has one; Union drops those that end up empty.
std::vector<Interval> Inside(const Slice& slice, std::vector<Interval> intervals);

// Sorts and merges overlapping or touching intervals.
std::vector<Interval> Union(std::vector<Interval> intervals);

}  // namespace xlaprof
