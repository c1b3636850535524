// The ops that each device ran, summed by name.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "profiler/store/events.h"

namespace xlaprof {

// Process and name of a device. Processes on several machines call their devices by the same names.
using DeviceKey = std::pair<int64_t, std::string>;

// All events of one name on one device.
struct DeviceOp {
  int64_t ns = 0, count = 0;  // a sum, also of events at the same time
  // `ns` without the ops inside these events, but with the time in which other threads of a CPU
  // finish these ops (AsyncOps) while no event of the device is open.
  int64_t self_ns = 0;
  // The longest event.
  int64_t longest_ns = -1, chunk_id = 0, index = 0, event_id = 0, ts_ns = 0;

  // Adds event `i` of the batch, with all of its time as its own.
  void Add(const EventBatch& batch, size_t i);
};

struct DeviceOps {
  struct Name {
    std::string op;              // copy-done.2 for "%copy-done.2 = f32[...] copy-done(...)"
    bool is_collective = false;  // its first event is a collective operation
  };
  std::map<DeviceKey, absl::flat_hash_map<StringId, DeviceOp>> by_device;
  absl::flat_hash_map<StringId, Name> names;  // names of all ops in by_device

  static absl::StatusOr<DeviceOps> Of(const Run& run);
};

// Returns copy-done.2 for "%copy-done.2 = f32[...] copy-done(...)" and for "copy-done.2".
std::string_view OpName(std::string_view text);

// Sets of ops of each device. Each op's name has the number of its set.
using OpSets = std::map<DeviceKey, absl::flat_hash_map<StringId, size_t>>;

// Returns when each device ran ops of each of `count` sets, as disjoint and sorted intervals. A
// device may run ops of a set at the same time, in several streams or threads.
absl::StatusOr<std::map<DeviceKey, std::vector<std::vector<Interval>>>> TimesOf(const Run& run,
                                                                                const OpSets& sets,
                                                                                size_t count);

// The details of one op, from its name, its arguments and the program's text.
struct DeviceOpDetails {
  bool host_memory = false;  // it or an op that it waits for uses the host's memory
  OptInt bytes;              // bytes that it accessed
  OptText location;          // the place where it was recorded
};
absl::StatusOr<DeviceOpDetails> DetailsOf(const Run& run, StringId name, const DeviceOp& op);

}  // namespace xlaprof
