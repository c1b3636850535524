// Divides the idle time of a device by its causes.
#pragma once

#include <utility>
#include <vector>

#include "analyzers/run/device_idle.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/run.h"

namespace xlaprof {

// A cause of idle time: what the device waited for, if its work is launched call by call, and what
// the host did meanwhile.
struct IdleCause {
  GapWait wait = GapWait::kUnknown;
  Activity activity;
  auto operator<=>(const IdleCause&) const = default;
};

struct IdleOfCause {
  int64_t ns = 0;
  int64_t usual_ns = 0;  // the part outside steps that compile
  int64_t main_of = 0;   // number of gaps in which it is the longest activity
  int64_t in = 0;        // number of gaps in which it occurs
  int64_t calls = 0;     // calls that the Python tracer recorded in the `main_of` gaps
  int64_t main_ns = 0;   // its time in the `main_of` gaps
  int64_t scopes = 1;    // the user's scopes that Add merged
  std::vector<std::pair<int64_t, Interval>> longest;  // its part and the gap; a few, longest first

  // Keeps the longest gaps. Among equally long gaps, the first ones are kept.
  void KeepLongest();
  // Adds the idle time of another scope, which must have less.
  void Add(const IdleOfCause& other);
};

// Returns the steps after warm-up that compile, as disjoint, sorted intervals. Except for the
// user's own scopes, the host does everything in them because of the compilation: JAX traces again
// before it compiles, and a lazy runtime lowers.
std::vector<Interval> CompilingSteps(const Steps& steps, int64_t process_id);

// Returns the idle time of a device in its gaps, by cause, longest first. `compiling` are the
// CompilingSteps of its process.
absl::StatusOr<std::vector<std::pair<IdleCause, IdleOfCause>>> IdleByCause(
    const Run& run, const DeviceIdle& device, const std::vector<Interval>& compiling);

}  // namespace xlaprof
