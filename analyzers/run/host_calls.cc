#include "analyzers/run/host_calls.h"

#include <algorithm>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/tables.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

// Calls fn(batch, i) for at least each event of the process's host threads that overlaps one of the
// intervals. There must be one.
template <class Fn>
absl::Status EachHostEvent(const Run& run, int64_t process_id, std::span<const Interval> intervals,
                           Fn&& fn) {
  EventScanner::Options options{
      .columns = kStart | kDuration | kName | kCategory,
      .from_ns = std::ranges::min(intervals, {}, &Interval::begin_ns).begin_ns,
      .to_ns = std::ranges::max(intervals, {}, &Interval::end_ns).end_ns};
  XP_TRY(options.track_ids, HostThreads(run, process_id));
  if (options.track_ids.empty()) return absl::OkStatus();
  for (const Interval& interval : intervals)
    options.times_ns.emplace_back(interval.begin_ns, interval.end_ns);
  return EachEvent(run.store(), std::move(options), [&](const EventBatch& batch, size_t i) {
    if (batch.dur_ns[i] >= 0) fn(batch, i);
  });
}

Interval TimeOf(const EventBatch& batch, size_t i) {
  return {batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
}

// The innermost of several events, which is the shortest.
struct Innermost {
  StringId name = 0;
  Interval time;

  void Take(StringId event, Interval of) {
    if (name == 0 || of.length_ns() < time.length_ns()) name = event, time = of;
  }
  std::optional<HostCall> Call(const Store& store) const {
    if (name == 0) return {};
    return HostCall{std::string(store.Text(name)), time};
  }
};

}  // namespace

absl::StatusOr<std::vector<HostCalls>> CallsDuring(const Run& run, int64_t process_id,
                                                   std::span<const Interval> intervals) {
  if (intervals.empty()) return std::vector<HostCalls>();
  const Store& store = run.store();
  const StringId python = store.Find(TextOf(Category::kPython)),
                 step = store.Find(TextOf(Category::kStep)),
                 scope = store.Find(TextOf(Category::kScope));
  std::vector<Innermost> runtime_calls(intervals.size()), python_calls(intervals.size());
  XP_TRY(EachHostEvent(run, process_id, intervals, [&](const EventBatch& batch, size_t i) {
    const StringId what = batch.category[i];
    if (what == 0 || what == step || what == scope || batch.name[i] == 0) return;
    const Interval time = TimeOf(batch, i);
    for (size_t at = 0; at < intervals.size(); ++at) {
      const Interval& interval = intervals[at];
      const int64_t covers =
          std::min(time.end_ns, interval.end_ns) - std::max(time.begin_ns, interval.begin_ns);
      if (covers < 0 || 2 * covers < interval.length_ns() ||
          FindCall(store.Text(batch.name[i])).kind == CallKind::kProfiling)
        continue;
      (what == python ? python_calls : runtime_calls)[at].Take(batch.name[i], time);
    }
  }));
  std::vector<HostCalls> calls(intervals.size());
  for (size_t at = 0; at < intervals.size(); ++at)
    calls[at] = {runtime_calls[at].Call(store), python_calls[at].Call(store)};
  return calls;
}

absl::StatusOr<HostNeighbours> NeighboursOf(const Run& run, int64_t process_id, Interval interval) {
  // Events near the interval are enough; a neighbour that is farther away explains nothing.
  const int64_t near_ns = std::max<int64_t>(interval.length_ns(), 1'000'000);
  HostNeighbours neighbours;
  const Store& store = run.store();
  const StringId op = store.Find(TextOf(Category::kOp)),
                 collective = store.Find(TextOf(Category::kCollective));
  StringId before = 0, after = 0;
  Interval before_time, after_time;
  const Interval around{interval.begin_ns - near_ns, interval.end_ns + near_ns};
  XP_TRY(
      EachHostEvent(run, process_id, std::span(&around, 1), [&](const EventBatch& batch, size_t i) {
        const Interval time = TimeOf(batch, i);
        if (batch.name[i] == 0 || time.length_ns() == 0) return;
        // A CPU's client runs the device's ops on threads of the host.
        if (batch.category[i] != 0 && (batch.category[i] == op || batch.category[i] == collective))
          return;
        if (store.Text(batch.name[i]).starts_with("end: ")) return;
        if (time.end_ns <= interval.begin_ns) {
          if (before == 0 || time.end_ns > before_time.end_ns)
            before = batch.name[i], before_time = time;
        } else if (time.begin_ns >= interval.end_ns) {
          if (after == 0 || time.begin_ns < after_time.begin_ns)
            after = batch.name[i], after_time = time;
        }
      }));
  if (before != 0) neighbours.before = HostCall{std::string(store.Text(before)), before_time};
  if (after != 0) neighbours.after = HostCall{std::string(store.Text(after)), after_time};
  return neighbours;
}

absl::StatusOr<LinesAround> LinesAroundTime(const Run& run, int64_t process_id, Interval interval) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  const ExecutionRow* before = nullptr;
  const ExecutionRow* after = nullptr;
  for (const ExecutionRow& row : executions->rows) {
    const OptInt begin_ns = RequestTime(row);
    if (row.process_id.value_or(0) != process_id || !begin_ns || !row.site_id) continue;
    const bool is_before = *begin_ns < interval.begin_ns;
    const ExecutionRow*& best = is_before ? before : after;
    if (best == nullptr || (*RequestTime(*best) < *begin_ns) == is_before) best = &row;
  }
  LinesAround lines;
  if (before != nullptr) lines.before = sites->SubjectOf(before->site_id).place();
  if (after != nullptr) lines.after = sites->SubjectOf(after->site_id).place();
  return lines;
}

}  // namespace xlaprof
