// The steps of a run, told apart: warm-up, in which a clean program compiles, and steady, which it
// repeats.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "core/base/status.h"

namespace xlaprof {

struct StepSpan {
  int64_t id = 0, process_id = 0, ordinal = 0;
  OptInt ts_ns, dur_ns;   // empty: outside every window
  bool compiles = false;  // a compilation belongs to it or lies in it
  bool warm_up = false;
  // The step that prof.step() of torch.profiler opens as the trace stops: nothing is launched in
  // it, and its length says nothing.
  bool cut = false;

  bool steady() const { return !warm_up && !cut && ts_ns && dur_ns; }
};

struct Steps {
  std::vector<StepSpan> all;        // by process and ordinal; the slice's
  int64_t warm_up = 0;              // how many are, in the process that has most steps
  std::vector<int64_t> steady_ns;   // lengths of the steady ones that have one, sorted; not of cut
  std::vector<int64_t> warm_up_ns;  // of the others
  int64_t timed = 0;                // steps with start and length

  // From the start of the first steady step of a process to the end of its last; empty without
  // timed steady steps.
  std::optional<Interval> SteadyWindow(int64_t process_id) const;
  // Steps of a process that have a time, and the steady ones of them.
  int64_t Timed(int64_t process_id) const;
  int64_t TimedSteady(int64_t process_id) const;

  static absl::StatusOr<Steps> Of(const Run& run);
};

// Returns the median of sorted values; for an even number, the mean of the middle two. Empty for
// none.
std::optional<int64_t> Median(const std::vector<int64_t>& sorted);

// Nearest-rank percentile of sorted values, p in (0, 100]; empty for none.
std::optional<int64_t> NearestRank(const std::vector<int64_t>& sorted, double p);

}  // namespace xlaprof
