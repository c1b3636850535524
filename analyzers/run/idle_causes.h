// Divides the idle time of a device by its causes.
#pragma once

#include <array>
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

// The run is divided into this many parts at most, to find out whether idle time recurs: into its
// steady steps if there are several, or else into groups of consecutive gaps.
inline constexpr size_t kMostParts = 100;

struct IdleOfCause {
  int64_t ns = 0;
  int64_t usual_ns = 0;  // the part outside steps that compile
  int64_t main_of = 0;   // number of gaps in which it is the longest activity
  int64_t in = 0;        // number of gaps in which it occurs
  int64_t calls = 0;     // calls that the Python tracer recorded in the `main_of` gaps
  int64_t main_ns = 0;   // its time in the `main_of` gaps
  int64_t scopes = 1;    // the user's scopes that Add merged
  std::vector<std::pair<int64_t, Interval>> longest;  // its part and the gap; a few, longest first
  std::array<int64_t, kMostParts> in_part{};          // its time in each part of the run

  // Keeps the longest gaps. Among equally long gaps, the first ones are kept.
  void KeepLongest();
  // Adds the idle time of another scope, which must have less.
  void Add(const IdleOfCause& other);
};

// The idle time of one cause, divided into what recurs and what happened in a few places only.
struct Recurrence {
  // The time that is left if no part of the run counts for more than the part that has most after
  // the tenth (policy::kRecurringGapShare) of all parts that have more.
  int64_t recurring_ns = 0;
  // The gaps that are far longer than this: start-up, checkpoints and the like.
  int64_t once_ns = 0;
  std::vector<std::pair<int64_t, Interval>> once;
};
// Returns the division for a run of `parts` parts.
Recurrence RecurrenceOf(const IdleOfCause& idle, size_t parts);

// Returns the steps after warm-up that compile, as disjoint, sorted intervals. Except for the
// user's own scopes, the host does everything in them because of the compilation: JAX traces again
// before it compiles, and a lazy runtime lowers.
std::vector<Interval> CompilingSteps(const Steps& steps, int64_t process_id);

struct IdleCauses {
  std::vector<std::pair<IdleCause, IdleOfCause>> causes;  // longest first
  size_t parts = 0;                                       // parts into which the run is divided
};
// Returns the idle time of a device in its gaps, by cause. `compiling` are the CompilingSteps of
// its process.
absl::StatusOr<IdleCauses> IdleByCause(const Run& run, const DeviceIdle& device,
                                       const std::vector<Interval>& compiling);

}  // namespace xlaprof
