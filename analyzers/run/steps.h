// The steps of a run, divided into warm-up steps, in which a clean program compiles, and steady
// steps, which it repeats; and how many there are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct StepSpan {
  int64_t id = 0, process_id = 0, ordinal = 0;
  OptInt ts_ns, dur_ns;   // empty if the step is outside every window
  bool compiles = false;  // a compilation belongs to the step or lies in it
  bool warm_up = false;
  // The step that prof.step() of torch.profiler opens when the trace stops. Nothing is launched in
  // it, so its length means nothing.
  bool cut = false;

  bool steady() const { return !warm_up && !cut && ts_ns && dur_ns; }
};

struct Steps {
  std::vector<StepSpan> all;        // the chosen part's steps, by process and ordinal
  int64_t warm_up = 0;              // warm-up steps of the process with most steps
  std::vector<int64_t> steady_ns;   // lengths of steady steps, without cut ones, sorted
  std::vector<int64_t> warm_up_ns;  // lengths of the other steps
  int64_t timed = 0;                // steps with a start and a length

  // Returns the time from the start of a process's first steady step to the end of its last, or
  // nothing without timed steady steps.
  std::optional<Interval> SteadyWindow(int64_t process_id) const;
  // Return the number of a process's steps with a time, and of the steady ones among them.
  int64_t Timed(int64_t process_id) const;
  int64_t TimedSteady(int64_t process_id) const;

  static absl::StatusOr<Steps> Of(const Run& run);
};

// Returns the median of sorted values, which is the mean of the middle two if their number is even.
// Returns nothing if there are no values.
std::optional<int64_t> Median(const std::vector<int64_t>& sorted);

// Returns a percentile of sorted values by nearest rank, with p in (0, 100], or nothing if there
// are no values.
std::optional<int64_t> NearestRank(const std::vector<int64_t>& sorted, double p);

// Counts the steps of a run, from the best data in the store.
struct StepCounts {
  // The number of rows of table step in the chosen part, or else the MarkStep counter of the last
  // metrics report, or else the steps that torch_xla's own profiler lines count. Empty if no source
  // has any.
  OptInt all;
  std::map<int64_t, int64_t> by_process;  // rows of table step in the chosen part

  int64_t Of(int64_t process_id) const {
    const auto count = by_process.find(process_id);
    return count == by_process.end() ? 0 : count->second;
  }
  static absl::StatusOr<StepCounts> Of(const Run& run);
};

// Returns whether something that happens this often is a pattern. `per_step` is empty if no step is
// known.
bool IsOften(int64_t count, std::optional<double> per_step);

// Returns whether something happens in every step, except perhaps a few of the first and last ones.
bool IsInEveryStep(std::optional<double> per_step);

// Returns count / steps, or nothing if the steps are not known.
inline std::optional<double> PerStep(int64_t count, std::optional<int64_t> steps) {
  if (!steps || *steps <= 0) return std::nullopt;
  return double(count) / double(*steps);
}

}  // namespace xlaprof
