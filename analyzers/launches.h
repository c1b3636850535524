// For a device that is fed call by call (kernels of CUDA or ROCm): which call on the host asked for
// the work that ended a gap, and so what the device waited for.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzers/device_time.h"
#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

enum class GapWait {
  kUnknown,     // the work behind the gap is joined with no call
  kHostWait,    // the call began after the gap had: the host was late
  kLaunch,      // the call was under way when the gap began
  kKernelWait,  // the call was over before: the work was queued, and waited for other work
};
// "host_wait", "launch", "kernel_wait"; "" for kUnknown.
std::string_view GapWaitText(GapWait wait);

class Launches {
 public:
  // From the flows that lead from the host's events to `device`'s ops. Empty for devices that run
  // whole programs (XLA Modules).
  static absl::StatusOr<Launches> Of(const Store& store, const DeviceTime& device);

  GapWait WaitOf(Interval gap) const;
  bool empty() const { return works_.empty(); }

 private:
  struct Work {
    int64_t ts_ns = 0, call_ts_ns = 0, call_end_ns = 0;
  };
  std::vector<Work> works_;  // by ts_ns
};

}  // namespace xlaprof
