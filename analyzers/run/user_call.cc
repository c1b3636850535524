#include "analyzers/run/user_call.h"

#include "analyzers/run/each_batch.h"
#include "analyzers/run/user_code.h"
#include "profiler/store/events.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_set<StringId>> NamesOfJaxCalls(const Store& store,
                                                              std::string_view function) {
  absl::flat_hash_set<StringId> names;
  XP_TRY(store.Each(
      "SELECT id, text FROM string WHERE text LIKE '$% ' || ?1",
      [&](int64_t id, std::string_view call) {
        if (IsJaxFile(SourcePlace::ParsePythonCall(call).file)) names.insert(StringId(id));
      },
      function));
  return names;
}

absl::StatusOr<std::string> JaxFunctionAt(const Run& run, int64_t track_id, int64_t ts_ns) {
  constexpr std::string_view kCall = "PjitFunction(";
  const Store& store = run.store();
  const StringId execute = store.Find(TextOf(Category::kExecute));
  std::string function;
  if (execute == 0) return function;
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .track_ids = {track_id},
                                .from_ns = {},
                                .to_ns = {},
                                .categories = {execute}};
  options.times_ns = {{ts_ns, ts_ns + 1}};
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      const std::string_view name = store.Text(batch.name[i]);
      if (batch.category[i] == execute && batch.ts_ns[i] <= ts_ns &&
          ts_ns < batch.ts_ns[i] + batch.dur_ns[i] && name.starts_with(kCall) &&
          name.ends_with(')'))
        function = name.substr(kCall.size(), name.size() - kCall.size() - 1);
    }
    return absl::OkStatus();
  }));
  return function;
}

absl::StatusOr<SourcePlace> UserCallAt(const Run& run, int64_t track_id, int64_t ts_ns) {
  const Store& store = run.store();
  const StringId python = store.Find(TextOf(Category::kPython));
  SourcePlace innermost;
  if (python == 0) return innermost;
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  int64_t begin_ns = INT64_MIN;
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .track_ids = {track_id},
                                .from_ns = {},
                                .to_ns = {},
                                .categories = {python}};
  options.times_ns = {{ts_ns, ts_ns + 1}};
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      const bool contains = batch.category[i] == python && batch.ts_ns[i] <= ts_ns &&
                            ts_ns < batch.ts_ns[i] + batch.dur_ns[i];
      if (!contains || batch.ts_ns[i] < begin_ns) continue;
      SourcePlace place = SourcePlace::ParsePythonCall(store.Text(batch.name[i]));
      if (!place.line || !user->IsUserCall(place)) continue;
      innermost = user->Resolve(std::move(place));
      begin_ns = batch.ts_ns[i];
    }
    return absl::OkStatus();
  }));
  return innermost;
}

}  // namespace xlaprof
