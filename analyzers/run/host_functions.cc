#include "analyzers/run/host_functions.h"

#include <absl/container/flat_hash_map.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/user_code.h"

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

}  // namespace xlaprof
