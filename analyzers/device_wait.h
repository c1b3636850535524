// The figures of device_wait about the ops of one base name, which is the finding's Subject::op.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"

namespace xlaprof {

// The event or resource that a device waits for. For kCollective it is only known to communicate.
enum class WaitedFor : uint8_t {
  kCopy,        // between memories of the device
  kHostCopy,    // from or to the host's memory
  kCollective,  // other devices
  kInfeed,      // data from the host
  kOutfeed,     // the host, which takes results
  kSendRecv,    // a peer or the host
  kAsync,       // another op that runs in the background
};

// An op that waits, by its full name.
struct WaitingOp {
  std::string name;
  int64_t ns = 0, count = 0;     // time and number of all its executions
  std::optional<int64_t> bytes;  // accessed by one execution; unset if not known
  bool host_memory = false;
};

// The device that waits least, if several run these ops.
struct LeastWait {
  std::string device;
  double share = 0;  // the part of its busy time
  int64_t devices = 0;
  bool is_late = false;  // the others wait for it, because all of them end together
  // If it is late: how much less time it spends in these ops, which is the least time that the
  // device which waits most waits for others. Unset if the devices ran different ops.
  std::optional<int64_t> waiting_ns;
};

struct DeviceWaitFigures {
  std::string device;  // the device that waits most
  double share = 0;    // the part of its busy time
  WaitedFor waited_for = WaitedFor::kAsync;
  bool shares_cores = false;       // the devices are parts of one CPU
  std::optional<LeastWait> least;  // unset if only one device runs these ops
  std::vector<WaitingOp> ops;      // one per entry of Finding::evidence
};

// Returns the words of a finding that has DeviceWaitFigures.
Words SayDeviceWait(const Finding& finding, Framework framework);

}  // namespace xlaprof
