// The Python stacks of a process's main thread, which `xlaprof run` sampled.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// The user's function that holds most of the samples of one kind.
struct SampledFunction {
  SourcePlace place;     // its line that most of these samples show
  int64_t samples = 0;   // in the function, or in what it calls
  int64_t examined = 0;  // all samples that were looked at
};

// Says where the thread was at its last sample.
struct LastSeen {
  SourcePlace place;  // the user's line, or else the innermost
  int64_t ns = 0;     // for how long all samples had been in this function
};

class HostSamples {
 public:
  static absl::StatusOr<HostSamples> Of(const Run& run, int64_t process_id);

  bool empty() const { return samples_.empty(); }
  std::optional<LastSeen> last() const;
  // The samples in some intervals, and the time for which they stand.
  struct Total {
    struct Part {
      int64_t samples = 0, ns = 0;
    };
    Part all;
    std::array<Part, kDoingCount> by_doing;
    const Part& Of(Doing doing) const { return by_doing[size_t(doing)]; }
  };
  // Sums the samples in these intervals, which must be sorted and disjoint. A sample shows that the
  // host waits for data (kInput), records operations or cuts the graph (kTracing), is inside the
  // framework (kRuntime), or else that it runs the user's code (kUserCode).
  Total TotalIn(std::span<const Interval> intervals) const;
  // Returns the innermost function of the user that holds at least half of the samples of this kind in
  // these intervals. Returns nothing if none of them was in the user's code.
  std::optional<SampledFunction> FunctionIn(std::span<const Interval> intervals, Doing doing) const;
  // Returns the share of the samples in an interval during which a function of the user was running
  // or waited for one that it had called. Returns 0 if there are no samples.
  double ShareOf(const SourcePlace& function, Interval interval) const;

 private:
  struct Stack {
    SourcePlace innermost;
    std::vector<SourcePlace> users;  // the frames of the user's code, innermost first
    Doing doing = Doing::kUserCode;
  };
  struct Sample {
    int64_t ts_ns = 0, dur_ns = 0;
    int64_t stack_id = 0;
  };
  template <class Fn>
  void EachIn(std::span<const Interval> intervals, Fn&& fn) const;

  std::vector<Sample> samples_;  // by time
  absl::flat_hash_map<int64_t, Stack> stacks_;
};

}  // namespace xlaprof
