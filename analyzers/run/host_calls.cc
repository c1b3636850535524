#include "analyzers/run/host_calls.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

// Returns the starts of events that give work to a device or prepare it, sorted.
absl::StatusOr<std::vector<int64_t>> ReadLaunches(const Store& store,
                                                  std::span<const int64_t> threads) {
  EventScanner::Options options{.columns = kStart | kCategory,
                                .track_ids = {threads.begin(), threads.end()}};
  for (Category category :
       {Category::kTracing, Category::kCompile, Category::kExecute, Category::kStep}) {
    if (const StringId id = store.Find(TextOf(category)); id != 0) options.categories.push_back(id);
  }
  std::vector<int64_t> starts;
  if (options.categories.empty() || options.track_ids.empty()) return starts;
  const std::vector<StringId> wanted = options.categories;
  XP_TRY(EachEvent(store, std::move(options), [&](const EventBatch& batch, size_t i) {
    if (std::ranges::find(wanted, batch.category[i]) != wanted.end())
      starts.push_back(batch.ts_ns[i]);
  }));
  std::ranges::sort(starts);
  return starts;
}

// Returns whether the call is one of a function in the user's code that has a name of its own. A
// comprehension or lambda belongs to the function around it.
bool IsNamedUserFunction(const UserCode& user, std::string_view call) {
  const SourcePlace place = SourcePlace::ParsePythonCall(call);
  return place.line && !place.function.starts_with('<') && user.IsUserCall(place);
}

// Calls fn(name, time) for each call of such a function on a thread, or at least for those that
// overlap one of `times`, if there are any.
template <class Fn>
absl::Status EachUserCall(const Run& run, int64_t thread, std::span<const Interval> times,
                          Fn&& fn) {
  const Store& store = run.store();
  const StringId python = store.Find(TextOf(Category::kPython));
  if (python == 0) return absl::OkStatus();
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .track_ids = {thread},
                                .categories = {python}};
  for (const Interval& time : times) options.times_ns.emplace_back(time.begin_ns, time.end_ns);
  absl::flat_hash_map<StringId, bool> is_user;  // by name
  return EachEvent(store, std::move(options), [&](const EventBatch& batch, size_t i) {
    if (batch.category[i] != python) return;
    auto [known, is_new] = is_user.try_emplace(batch.name[i], false);
    if (is_new) known->second = IsNamedUserFunction(*user, store.Text(batch.name[i]));
    if (known->second)
      fn(batch.name[i], Interval{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]});
  });
}

}  // namespace

absl::StatusOr<HostFunctions> HostFunctions::On(const Run& run, int64_t thread,
                                                std::span<const int64_t> launchers) {
  HostFunctions functions;
  if (run.store().Find(TextOf(Category::kPython)) == 0) return functions;
  XP_TRY(const std::vector<int64_t> launches, ReadLaunches(run.store(), launchers));
  absl::flat_hash_set<StringId> launching;
  XP_TRY(EachUserCall(run, thread, {}, [&](StringId name, Interval time) {
    functions.names.insert(name);
    const auto launch = std::ranges::lower_bound(launches, time.begin_ns);
    if (launch != launches.end() && *launch < time.end_ns) launching.insert(name);
  }));
  for (const StringId name : launching) functions.names.erase(name);
  return functions;
}

absl::StatusOr<SourcePlace> FunctionAround(const Run& run, int64_t thread,
                                           std::span<const Interval> intervals) {
  if (intervals.empty()) return SourcePlace();
  struct Innermost {
    StringId name = 0;
    int64_t length_ns = INT64_MAX;
  };
  std::vector<Innermost> around(intervals.size());
  XP_TRY(EachUserCall(run, thread, intervals, [&](StringId name, Interval time) {
    for (size_t at = 0; at < intervals.size(); ++at) {
      if (time.begin_ns <= intervals[at].begin_ns && time.end_ns >= intervals[at].end_ns &&
          time.length_ns() < around[at].length_ns)
        around[at] = {name, time.length_ns()};
    }
  }));
  std::map<StringId, size_t> count;
  for (const Innermost& function : around) {
    if (function.name != 0) ++count[function.name];
  }
  const auto most = std::ranges::max_element(count, {}, [](const auto& of) { return of.second; });
  if (most == count.end() || 2 * most->second < intervals.size()) return SourcePlace();
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  return user->Resolve(SourcePlace::ParsePythonCall(run.store().Text(most->first)));
}

std::string FunctionText(const SourcePlace& place) {
  return fmt::format("{} ({})", place.function, place.ShortText());
}

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
        if (FindBeginning(store.Text(batch.name[i])).Has(CallTrait::kEndsElsewhere)) return;
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
