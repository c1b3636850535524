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
                                .track_ids = {threads.begin(), threads.end()},
                                .from_ns = {},
                                .to_ns = {}};
  for (Category category :
       {Category::kTracing, Category::kCompile, Category::kExecute, Category::kStep}) {
    if (const StringId id = store.Find(TextOf(category)); id != 0) options.categories.push_back(id);
  }
  std::vector<int64_t> starts;
  if (options.categories.empty() || options.track_ids.empty()) return starts;
  const std::vector<StringId> wanted = options.categories;
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (std::ranges::find(wanted, batch.category[i]) != wanted.end())
        starts.push_back(batch.ts_ns[i]);
    }
    return absl::OkStatus();
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

}  // namespace

absl::StatusOr<HostFunctions> HostFunctions::On(const Run& run, int64_t thread,
                                                std::span<const int64_t> launchers) {
  const Store& store = run.store();
  HostFunctions functions;
  const StringId python = store.Find(TextOf(Category::kPython));
  if (python == 0) return functions;
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  XP_TRY(const std::vector<int64_t> launches, ReadLaunches(store, launchers));
  absl::flat_hash_map<StringId, bool> only_on_host;  // by name
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .track_ids = {thread},
                                .from_ns = {},
                                .to_ns = {},
                                .categories = {python}};
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] != python) continue;
      auto [known, is_new] = only_on_host.try_emplace(batch.name[i], false);
      if (is_new) known->second = IsNamedUserFunction(*user, store.Text(batch.name[i]));
      if (!known->second) continue;
      const auto launch = std::ranges::lower_bound(launches, batch.ts_ns[i]);
      if (launch != launches.end() && *launch < batch.ts_ns[i] + batch.dur_ns[i])
        known->second = false;
    }
    return absl::OkStatus();
  }));
  for (const auto& [name, is_of_host] : only_on_host) {
    if (is_of_host) functions.names.insert(name);
  }
  return functions;
}

absl::StatusOr<SourcePlace> FunctionAround(const Run& run, int64_t thread,
                                           std::span<const Interval> intervals) {
  const Store& store = run.store();
  const StringId python = store.Find(TextOf(Category::kPython));
  if (python == 0 || intervals.empty()) return SourcePlace();
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .track_ids = {thread},
                                .from_ns = {},
                                .to_ns = {},
                                .categories = {python}};
  for (const Interval& interval : intervals)
    options.times_ns.emplace_back(interval.begin_ns, interval.end_ns);
  struct Innermost {
    StringId name = 0;
    int64_t length_ns = INT64_MAX;
  };
  std::vector<Innermost> around(intervals.size());
  absl::flat_hash_map<StringId, bool> is_user;  // by name
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] != python) continue;
      for (size_t at = 0; at < intervals.size(); ++at) {
        const bool contains = batch.ts_ns[i] <= intervals[at].begin_ns &&
                              batch.ts_ns[i] + batch.dur_ns[i] >= intervals[at].end_ns;
        if (!contains || batch.dur_ns[i] >= around[at].length_ns) continue;
        auto [known, is_new] = is_user.try_emplace(batch.name[i], false);
        if (is_new) known->second = IsNamedUserFunction(*user, store.Text(batch.name[i]));
        if (known->second) around[at] = {batch.name[i], batch.dur_ns[i]};
      }
    }
    return absl::OkStatus();
  }));
  std::map<StringId, size_t> count;
  for (const Innermost& function : around) {
    if (function.name != 0) ++count[function.name];
  }
  const auto most = std::ranges::max_element(count, {}, [](const auto& of) { return of.second; });
  if (most == count.end() || 2 * most->second < intervals.size()) return SourcePlace();
  return user->Resolve(SourcePlace::ParsePythonCall(store.Text(most->first)));
}

std::string FunctionText(std::string_view call) {
  const SourcePlace place = SourcePlace::ParsePythonCall(call);
  return fmt::format("{} ({})", place.function, place.ShortText());
}

}  // namespace xlaprof
