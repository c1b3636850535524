// The activity of the host at each moment, which is that of the thread that leads the work. The leading
// thread of a process is the one with the step annotations, or else with most tracing, scopes or
// executions (in this order). If it shows nothing, a compilation on any other thread counts, and
// between two annotated steps also a data loader's thread.
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
#include "core/base/status.h"

namespace xlaprof {

enum class Doing : uint8_t {
  kNothing,   // no event open
  kUserCode,  // inside a user's scope or step, and nothing of the runtime open in it
  kRuntime,   // inside the runtime, not in one of the below
  kTracing,   // making a graph
  kExecute,   // asking for an execution
  kInput,     // waiting for or preparing data
  kTransfer,  // copying between host and device
  kCompile,
};
inline constexpr size_t kDoingCount = size_t(Doing::kCompile) + 1;
// "user code", "tracing", ...
std::string_view DoingText(Doing doing);

struct Activity {
  Doing doing = Doing::kNothing;
  bool in_step = false;  // scope is a step's name: no scope is open inside it. Steps whose names
                         // differ in the number at their end share the first one's.
  StringId scope = 0;    // name of the innermost user scope, else of the step; 0: none
  auto operator<=>(const Activity&) const = default;
  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const Activity& activity) {
    return Hash::combine(std::move(hash), activity.doing, activity.scope, activity.in_step);
  }
};
// Text of the scope; of a step, without the number at its end ("ProfilerStep#7"); "" for none.
std::string_view ScopeText(const Run& run, const Activity& activity);
struct ActivityShare {
  Activity activity;
  int64_t ns = 0;
};

struct ActivitySegment {
  Interval time;
  Activity activity;
};

// The activities of one process: made by a sweep that is linear in the events of the
// host's threads and keeps none of them, asked for as many intervals as there are.
class HostTimeline {
 public:
  static absl::StatusOr<HostTimeline> Of(const Run& run, int64_t process_id);

  // Finds what filled an interval: the longest activity first, summing to its length. Intervals
  // that come in order are found from the position of the previous one.
  class Walk {
   public:
    explicit Walk(const HostTimeline& of) : of_(of) {}
    std::span<const ActivityShare> During(Interval interval);  // good until the next call

   private:
    void Add(const Activity& activity, int64_t ns);

    const HostTimeline& of_;
    size_t at_ = 0;  // of the first segment that ends behind the last interval's begin
    std::vector<ActivityShare> shares_;
    absl::flat_hash_map<Activity, size_t> place_of_;  // of those that are not among the first
  };
  // The same by Doing alone, which for a whole run is far less to tell apart.
  std::array<int64_t, kDoingCount> TotalsDuring(Interval interval) const;
  // False: the process has no host thread with any of these events, so that "nothing" says nothing.
  bool has_events() const { return has_events_; }
  // Events of the Python tracer that started inside `interval` on the leading thread.
  int64_t PythonCalls(Interval interval) const;

 private:
  std::vector<ActivitySegment> segments_;  // disjoint, sorted, kNothing left out
  std::vector<int64_t> python_calls_;      // starts, sorted
  bool has_events_ = false;

  // Calls fn(activity, ns) for each part of `interval`, in order but for what is left to kNothing.
  // `first`: of EndingBehind its begin.
  template <class Fn>
  void EachDuring(Interval interval, size_t first, Fn&& fn) const;
  // The first segment that ends behind `t_ns`; soon found where it is near `from`, or behind it.
  size_t EndingBehind(int64_t t_ns, size_t from) const;
};

}  // namespace xlaprof
