// Finds, for a device whose work is launched call by call (kernels of CUDA or ROCm), the host's
// call that launched the work at the end of a gap. This shows what the device waited for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

enum class GapWait {
  kUnknown,     // no call is known for the work after the gap
  kHostWait,    // the call began after the gap did, so the host was late
  kLaunch,      // the call was under way when the gap began
  kKernelWait,  // the call ended before the gap, so the work waited in the queue
  kUnrecorded,  // as kKernelWait, but so long that it waited for something that was not recorded
};

// Returns one entry per gap of `device`, from the flows that lead from the host's events to the
// device's ops. Gaps must be sorted and disjoint. If several ops end a gap at once, the op that was
// launched first counts. All entries are unknown for devices that run whole programs (XLA Modules).
absl::StatusOr<std::vector<GapWait>> GapWaits(const Run& run, const DeviceTime& device,
                                              std::span<const Interval> gaps);

// Returns the tracks of a process's threads on the host.
absl::StatusOr<std::vector<int64_t>> HostThreads(const Run& run, int64_t process_id);

// Returns whether a thread of the host asks a device for work, or for a copy, in that time.
absl::StatusOr<bool> LaunchesDuring(const Run& run, int64_t process_id, Interval time);

// Returns whether a call inside a scope of that name asked a device for work.
absl::StatusOr<bool> LaunchesIn(const Run& run, int64_t process_id, StringId scope);

}  // namespace xlaprof
