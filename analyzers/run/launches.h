// For a device that is fed call by call (kernels of CUDA or ROCm): which call on the host asked for
// the work that ended a gap, and so what the device waited for.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

enum class GapWait {
  kUnknown,     // the work behind the gap is joined with no call
  kHostWait,    // the call began after the gap had: the host was late
  kLaunch,      // the call was under way when the gap began
  kKernelWait,  // the call was over before: the work was queued, and waited for other work
};
// "host_wait", "launch", "kernel_wait"; "" for kUnknown.
std::string_view GapWaitText(GapWait wait);

// One entry a gap of `device` (sorted, disjoint), from the flows that lead from the host's events
// to the device's ops. Where several ops end a gap at once, the one that was asked for first
// counts. All unknown for devices that run whole programs (XLA Modules).
absl::StatusOr<std::vector<GapWait>> GapWaits(const Run& run, const DeviceTime& device,
                                              std::span<const Interval> gaps);

// Tracks of a process's threads on the host.
absl::StatusOr<std::vector<int64_t>> HostThreads(const Run& run, int64_t process_id);

// Returns whether a thread of the host asks a device for work, or for a copy, in that time.
absl::StatusOr<bool> LaunchesDuring(const Run& run, int64_t process_id, Interval time);

// Returns whether a call inside a scope of that name asked a device for work.
absl::StatusOr<bool> LaunchesIn(const Run& run, int64_t process_id, StringId scope);

}  // namespace xlaprof
