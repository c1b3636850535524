// The activity of the host at each moment. The leading thread of a process is the one with the step
// annotations, or else with most tracing, scopes or executions (in this order). Where it shows
// nothing, the other threads that give work to devices count. In eager PyTorch they also count where
// it only shows the user's code, because it waits for the thread that computes gradients. Where
// these show nothing, too, a compilation on any other thread counts, and between two annotated steps
// also a data loader's thread. Without annotated steps, a loader counts until an upload ends that
// waited for it, because the next step cannot begin earlier.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

enum class Doing : uint8_t {
  kNothing,   // no event open
  kUserCode,  // inside a user's scope, step or function, but not in the runtime
  kRuntime,   // inside the runtime, but in none of the following
  kTracing,   // making a graph
  kExecute,   // asking for an execution
  kInput,     // waiting for or preparing data
  kTransfer,  // copying between host and device
  kAllocate,  // getting device memory from the driver, or returning it
  kCapture,   // recording launches in a CUDA graph, which runs nothing
  kCompile,
};
inline constexpr size_t kDoingCount = size_t(Doing::kCompile) + 1;
// Says what the host does: "your code" as a row of a table, "user code" in a sentence.
struct DoingTexts {
  std::string_view name, text;
};
DoingTexts TextsOf(Doing doing);

// A piece of the user's code has its name from one of these.
enum class NamedBy : uint8_t {
  kScope,     // a scope that the user opened
  kStep,      // a step, if neither a scope nor a function is open inside it
  kFunction,  // a Python function that only the host runs (HostFunctions)
};

struct Activity {
  Doing doing = Doing::kNothing;
  NamedBy named_by = NamedBy::kScope;
  // The name of the innermost scope, or else function, or else step; 0: none. Steps whose names
  // differ only in a number at the end all have the name of the first one.
  StringId scope = 0;
  auto operator<=>(const Activity&) const = default;
  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const Activity& activity) {
    return Hash::combine(std::move(hash), activity.doing, activity.scope, activity.named_by);
  }
  // Returns whether the user named this code with a scope.
  bool is_in_scope() const { return scope != 0 && named_by == NamedBy::kScope; }
};
// Returns the text of the scope, or "". A step's name is returned without the number at its end
// ("ProfilerStep#7"), and a function's as "augment (stream.py:12)".
std::string ScopeText(const Run& run, const Activity& activity);
struct ActivityShare {
  Activity activity;
  int64_t ns = 0;
};

struct ActivitySegment {
  Interval time;
  Activity activity;
};

// The activities of one process. They are found by one sweep over the events of the host's threads,
// which keeps no events. Any number of intervals can then be looked up.
class HostTimeline {
 public:
  static absl::StatusOr<HostTimeline> Of(const Run& run, int64_t process_id);

  // Finds the activities in an interval, the longest first, which sum to its length. Lookups of
  // intervals in order are fast, because each starts at the position of the previous one.
  class Walk {
   public:
    explicit Walk(const HostTimeline& of) : of_(of) {}
    std::span<const ActivityShare> During(Interval interval);  // valid until the next call

   private:
    void Add(const Activity& activity, int64_t ns);

    const HostTimeline& of_;
    size_t at_ = 0;  // the first segment that ends after the begin of the last interval
    std::vector<ActivityShare> shares_;
    absl::flat_hash_map<Activity, size_t> place_of_;  // beyond the first few
  };
  // Returns the sums by Doing alone, which is much cheaper for a whole run.
  std::array<int64_t, kDoingCount> TotalsDuring(Interval interval) const;
  // Returns the times in `interval` at which the host waits for data, in order and disjoint.
  std::vector<Interval> WaitsForData(Interval interval) const;
  // Returns false if no host thread of the process has such events. kNothing then has no meaning.
  bool has_events() const { return has_events_; }
  // Returns the thread that leads; 0 if has_events() is false.
  int64_t leading_thread() const { return leading_thread_; }
  // Returns the time in `interval` in which nothing was recorded and after which one of `times_ns`
  // follows before the next such time. `times_ns` must be sorted.
  int64_t UnrecordedBefore(Interval interval, std::span<const int64_t> times_ns) const;
  // Returns the number of events of the Python tracer that started inside `interval` on the leading
  // thread.
  int64_t PythonCalls(Interval interval) const;

 private:
  std::vector<ActivitySegment> segments_;  // disjoint, sorted, kNothing left out
  std::vector<int64_t> python_calls_;      // starts, sorted
  bool has_events_ = false;
  int64_t leading_thread_ = 0;

  // Calls fn(activity, ns) for each part of `interval` in order, and last for the rest, as
  // kNothing. `first` is EndingBehind of its begin.
  template <class Fn>
  void EachDuring(Interval interval, size_t first, Fn&& fn) const;
  // Returns the first segment that ends after `t_ns`. This is fast if it is near `from` or after
  // it.
  size_t EndingBehind(int64_t t_ns, size_t from) const;
};

}  // namespace xlaprof
