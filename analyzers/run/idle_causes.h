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

// The cause of a gap: what the device waited for, if its work is launched call by call, and what the
// host did for most of it.
struct IdleCause {
  GapWait wait = GapWait::kUnknown;
  Activity activity;
  auto operator<=>(const IdleCause&) const = default;
};

// The run is divided into this many parts at most, to find out whether idle time recurs: into its
// steady steps if there are several, or else into groups of consecutive gaps.
inline constexpr size_t kMostParts = 100;

// The longest gap of each of this many stretches of the run is kept.
inline constexpr size_t kStretches = 8;

struct LongGap {
  Interval gap;
  int64_t main_ns = 0;  // the time that the host spent on the cause
  size_t part = 0;      // the part of the run in which it begins
};

struct IdleOfCause {
  int64_t ns = 0;
  int64_t usual_ns = 0;  // the part outside steps that compile
  int64_t main_ns = 0;   // the part in which the host did this
  int64_t gaps = 0;
  int64_t scopes = 1;                            // the user's scopes that Add merged
  std::vector<LongGap> longest;                  // a few, longest first
  std::array<LongGap, kStretches> in_stretch{};  // the longest in each stretch; empty: none
  std::array<int64_t, kMostParts> in_part{};     // its time in each part of the run

  // Keeps the longest gaps. Among equally long gaps, the first ones are kept.
  void KeepLongest();
  // Keeps a gap if it is longer than the one that is kept of its stretch.
  void KeepInStretch(size_t stretch, const LongGap& gap);
  // Returns `longest` without the first `skipped` gaps, but the longest gaps of all stretches come
  // first, so that a few of them show where in the run the gaps lie. The very longest stays first.
  std::vector<LongGap> SpreadFirst(size_t skipped) const;
  // Adds the idle time of another scope, which must have less.
  void Add(const IdleOfCause& other);
};

// The idle time of one cause, divided into what recurs and what happened in a few places only.
struct Recurrence {
  // The time that is left if no part of the run counts for more than the part that has most after
  // the tenth (policy::kRecurringGapShare) of all parts that have more, and never for more than the
  // part that has second most. If longer gaps lie at regular distances, a part counts for as much as
  // the policy::kRegularGaps longest of these have at least.
  int64_t recurring_ns = 0;
  // The gaps that are far longer than this: start-up, checkpoints and the like.
  int64_t once_ns = 0;
  std::vector<LongGap> once;
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
  std::vector<int64_t> part_begins_ns;                    // one per part, ascending
  int64_t idle_ns = 0;                                    // the sum of all gaps
  int64_t python_calls = 0;  // calls that the Python tracer recorded in the gaps
};
// Returns the idle time of a device by cause. A gap belongs whole to one cause. `compiling` are the
// CompilingSteps of its process.
absl::StatusOr<IdleCauses> IdleByCause(const Run& run, const DeviceIdle& device,
                                       const std::vector<Interval>& compiling);

}  // namespace xlaprof
