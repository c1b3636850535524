#include "analyzers/run/idle_causes.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "analyzers/policy.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

constexpr size_t kKept = 64;  // the most gaps of a cause that are kept

struct Share {
  Activity activity;
  int64_t ns = 0, usual_ns = 0;
};

// Divides the run into parts: its steady steps, or else groups of consecutive gaps.
class RunParts {
 public:
  RunParts(const DeviceIdle& device, const Steps& steps) : gaps_(device.gaps.size()) {
    for (const StepSpan& step : steps.all) {
      if (device.by_steps && step.process_id == device.time.process_id && step.steady())
        starts_.push_back(*step.ts_ns);
    }
    std::sort(starts_.begin(), starts_.end());
    if (int64_t(starts_.size()) < policy::kNotOnce) starts_.clear();
  }
  size_t count() const { return std::min(of(), kMostParts); }
  // Returns the part in which a gap begins. `number` is the gap's place among all gaps.
  size_t PartOf(size_t number, const Interval& gap) const {
    if (!starts_.empty()) {
      const auto next = std::upper_bound(starts_.begin(), starts_.end(), gap.begin_ns);
      number = size_t(std::max<ptrdiff_t>(0, next - starts_.begin() - 1));
    }
    return std::min(number * count() / of(), kMostParts - 1);
  }

 private:
  size_t of() const { return starts_.empty() ? gaps_ : starts_.size(); }

  std::vector<int64_t> starts_;  // of steady steps; empty without steps
  size_t gaps_;
};

// Finds what the host did for most of each gap, one gap after the other.
class MainShares {
 public:
  MainShares(const HostTimeline& host, const std::vector<Interval>& compiling)
      : walk_(host), compiling_(compiling) {}

  Share Of(Interval gap) {
    auto step = std::upper_bound(compiling_.begin(), compiling_.end(), gap.begin_ns,
                                 [](int64_t t, const Interval& i) { return t < i.end_ns; });
    if (step == compiling_.end() || step->begin_ns >= gap.end_ns) {
      const ActivityShare& main = walk_.During(gap).front();
      return {main.activity, main.ns, main.ns};
    }
    std::map<Activity, Share> sums;
    auto add = [&](Interval part, bool compiles) {
      if (part.length_ns() <= 0) return;
      for (const ActivityShare& share : walk_.During(part)) {
        const bool own_scope =
            share.activity.doing == Doing::kUserCode && share.activity.is_in_scope();
        const Activity activity =
            compiles && !own_scope ? Activity{.doing = Doing::kCompile} : share.activity;
        Share& sum = sums.try_emplace(activity, Share{.activity = activity}).first->second;
        sum.ns += share.ns;
        if (!compiles) sum.usual_ns += share.ns;
      }
    };
    int64_t at = gap.begin_ns;
    for (; step != compiling_.end() && step->begin_ns < gap.end_ns; ++step) {
      const int64_t end_ns = std::min(step->end_ns, gap.end_ns);
      add({at, step->begin_ns}, false);
      add({std::max(at, step->begin_ns), end_ns}, true);
      at = end_ns;
    }
    add({at, gap.end_ns}, false);
    return std::ranges::max_element(sums, {}, [](const auto& sum) { return sum.second.ns; })
        ->second;
  }

 private:
  HostTimeline::Walk walk_;
  const std::vector<Interval>& compiling_;
};

// Returns the length that the longest of these gaps have at least, if they lie at regular distances
// from the first of `parts` parts of the run to the last: that of the policy::kRegularGaps-th gap.
// `longest` is sorted by length.
OptInt LengthOfRegular(std::span<const LongGap> longest, size_t parts) {
  const auto fewest = size_t(policy::kRegularGaps);
  if (longest.size() < fewest) return {};
  const int64_t length_ns = longest[fewest - 1].gap.length_ns();
  std::set<size_t> in;
  for (const LongGap& of : longest) {
    const bool is_alike = policy::kOnceFactor * double(of.gap.length_ns()) >= double(length_ns);
    if (is_alike) in.insert(of.part);
  }
  if (in.size() < fewest) return {};
  // No round of the loop is missing at the start and at the end.
  size_t shortest = parts, largest = std::max(*in.begin(), parts - 1 - *in.rbegin());
  for (auto next = std::next(in.begin()); next != in.end(); ++next) {
    const size_t distance = *next - *std::prev(next);
    shortest = std::min(shortest, distance);
    largest = std::max(largest, distance);
  }
  if (double(largest) > policy::kRegularDistance * double(shortest)) return {};
  return length_ns;
}

// Returns the copies to and from a device, disjoint and sorted.
absl::StatusOr<std::vector<Interval>> CopiesOf(const Run& run, const DeviceTime& device) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  std::vector<Interval> copies;
  for (const TransferRow& row : transfers->rows) {
    if (row.ts_ns && row.dur_ns && row.process_id.value_or(0) == device.process_id &&
        row.device.value_or(device.device) == device.device)
      copies.push_back({*row.ts_ns, *row.ts_ns + *row.dur_ns});
  }
  return Union(std::move(copies));
}

// Returns whether a launched kernel waited longer than anything that was recorded explains.
bool WaitsForUnrecorded(const Interval& gap, const std::vector<Interval>& copies) {
  return gap.length_ns() >= policy::kLongKernelWaitNs &&
         double(Overlap(copies, gap)) < policy::kCopyShareOfGap * double(gap.length_ns());
}

}  // namespace

void IdleOfCause::KeepLongest() {
  std::ranges::stable_sort(longest, std::greater(),
                           [](const LongGap& of) { return of.gap.length_ns(); });
  if (longest.size() > kKept) longest.resize(kKept);
}

void IdleOfCause::KeepInStretch(size_t stretch, const LongGap& gap) {
  if (gap.gap.length_ns() > in_stretch[stretch].gap.length_ns()) in_stretch[stretch] = gap;
}

std::vector<LongGap> IdleOfCause::SpreadFirst(size_t skipped) const {
  const auto first = longest.begin() + ptrdiff_t(std::min(skipped, longest.size()));
  if (first == longest.end()) return {};
  const auto begin = [](const LongGap& of) { return of.gap.begin_ns; };
  const auto has = [&](auto from, auto to, const LongGap& gap) {
    return std::find_if(from, to, [&](const LongGap& of) { return begin(of) == begin(gap); }) != to;
  };
  std::vector<LongGap> spread{*first};
  const auto add = [&](const LongGap& gap) {
    if (!has(spread.begin(), spread.end(), gap)) spread.push_back(gap);
  };
  for (const LongGap& gap : in_stretch) {
    const bool is_skipped = has(longest.begin(), first, gap);
    if (gap.gap.length_ns() > 0 && !is_skipped && spread.size() < kStretches) add(gap);
  }
  auto next = first;
  for (; next != longest.end() && spread.size() < kStretches; ++next) add(*next);
  std::ranges::sort(spread, {}, begin);
  std::ranges::stable_sort(spread, std::greater(),
                           [](const LongGap& of) { return of.gap.length_ns(); });
  for (; next != longest.end(); ++next) add(*next);
  return spread;
}

void IdleOfCause::Add(const IdleOfCause& other) {
  ns += other.ns, usual_ns += other.usual_ns, main_ns += other.main_ns;
  gaps += other.gaps, scopes += other.scopes;
  for (size_t i = 0; i < kMostParts; ++i) in_part[i] += other.in_part[i];
  longest.insert(longest.end(), other.longest.begin(), other.longest.end());
  KeepLongest();
  for (size_t i = 0; i < kStretches; ++i) KeepInStretch(i, other.in_stretch[i]);
}

Recurrence RecurrenceOf(const IdleOfCause& idle, size_t parts) {
  Recurrence recurrence;
  std::array<int64_t, kMostParts> sorted = idle.in_part;
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  const size_t rank = std::max(size_t(int64_t{policy::kNotOnce}),
                               size_t(std::ceil(policy::kRecurringGapShare * double(parts))));
  int64_t level = rank <= parts ? sorted[rank - 1] : 0;
  // Returns the gaps that are far longer than what recurs.
  const auto far_longer = [&] {
    const auto end = std::ranges::find_if(idle.longest, [&](const LongGap& of) {
      return double(of.gap.length_ns()) <= policy::kOnceFactor * double(level);
    });
    return std::span(idle.longest.begin(), end);
  };
  level = std::max(level, LengthOfRegular(far_longer(), parts).value_or(0));
  for (const int64_t ns : sorted) recurrence.recurring_ns += std::min(ns, level);
  for (const LongGap& of : far_longer()) {
    recurrence.once_ns += of.gap.length_ns();
    recurrence.once.push_back(of);
  }
  return recurrence;
}

std::vector<Interval> CompilingSteps(const Steps& steps, int64_t process_id) {
  std::vector<Interval> out;
  for (const StepSpan& step : steps.all) {
    if (step.process_id == process_id && step.compiles && !step.warm_up && step.ts_ns &&
        step.dur_ns) {
      out.push_back({*step.ts_ns, *step.ts_ns + *step.dur_ns});
    }
  }
  return Union(std::move(out));
}

absl::StatusOr<IdleCauses> IdleByCause(const Run& run, const DeviceIdle& device,
                                       const std::vector<Interval>& compiling) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  const RunParts parts(device, *steps);
  XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(device.time.process_id));
  XP_TRY(const std::vector<GapWait> waits, GapWaits(run, device.time, device.gaps));
  XP_TRY(const std::vector<Interval> copies, CopiesOf(run, device.time));
  std::map<IdleCause, IdleOfCause> sums;
  MainShares main_shares(*host, compiling);
  IdleCause last;
  IdleOfCause* idle_of_last = nullptr;
  auto idle_of = [&](const IdleCause& cause) -> IdleOfCause& {
    if (idle_of_last == nullptr || cause != last) idle_of_last = &sums[cause], last = cause;
    return *idle_of_last;
  };
  IdleCauses out{.parts = parts.count()};
  out.part_begins_ns.reserve(out.parts);
  for (size_t g = 0; g < device.gaps.size(); ++g) {
    const Interval& gap = device.gaps[g];
    const bool is_unexplained = waits[g] == GapWait::kKernelWait && WaitsForUnrecorded(gap, copies);
    const GapWait wait = is_unexplained ? GapWait::kUnrecorded : waits[g];
    // The device does not wait for the host while the host launches its work, or has launched it
    // already.
    const bool host_matters = wait == GapWait::kUnknown || wait == GapWait::kHostWait;
    const Share main = host_matters ? main_shares.Of(gap)
                                    : Share{.ns = gap.length_ns(), .usual_ns = gap.length_ns()};
    IdleOfCause& idle = idle_of({wait, main.activity});
    idle.ns += gap.length_ns();
    idle.usual_ns += main.usual_ns == main.ns ? gap.length_ns() : 0;
    const size_t part = parts.PartOf(g, gap);
    while (out.part_begins_ns.size() <= part) out.part_begins_ns.push_back(gap.begin_ns);
    idle.in_part[part] += gap.length_ns();
    idle.main_ns += main.ns;
    ++idle.gaps;
    // Only the longest gaps so far are kept, because all of them would fill the memory.
    idle.longest.push_back({gap, main.ns, part});
    idle.KeepInStretch(part * kStretches / std::max<size_t>(out.parts, 1), {gap, main.ns, part});
    if (idle.longest.size() >= kKept * 64) idle.KeepLongest();
    out.idle_ns += gap.length_ns();
    out.python_calls += host->PythonCalls(gap);
  }
  out.causes.assign(sums.begin(), sums.end());
  for (auto& [cause, idle] : out.causes) idle.KeepLongest();
  std::stable_sort(out.causes.begin(), out.causes.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  return out;
}

}  // namespace xlaprof
