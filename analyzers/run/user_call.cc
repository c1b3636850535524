#include "analyzers/run/user_call.h"

#include "analyzers/run/each_batch.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_code.h"
#include "base/jax_module.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Calls fn(name, ts_ns) for each event of a category on a track that contains the time.
template <class Fn>
absl::Status EachEventAt(const Store& store, Category category, int64_t track_id, int64_t ts_ns,
                         Fn&& fn) {
  const StringId wanted = store.Find(TextOf(category));
  if (wanted == 0) return absl::OkStatus();
  return EachEvent(store,
                   {.columns = kStart | kDuration | kName | kCategory,
                    .track_ids = {track_id},
                    .categories = {wanted},
                    .times_ns = {{ts_ns, ts_ns + 1}}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.category[i] == wanted && batch.ts_ns[i] <= ts_ns &&
                         ts_ns < batch.ts_ns[i] + batch.dur_ns[i])
                       fn(store.Text(batch.name[i]), batch.ts_ns[i]);
                   });
}

}  // namespace

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
  std::string function;
  XP_TRY(EachEventAt(run.store(), Category::kExecute, track_id, ts_ns,
                     [&](std::string_view event, int64_t) {
                       if (const std::string_view called = JittedFunction(event); !called.empty())
                         function = called;
                     }));
  return function;
}

absl::StatusOr<SourcePlace> UserCallAt(const Run& run, int64_t track_id, int64_t ts_ns) {
  XP_TRY(const UserCode* user, run.Get<UserCode>());
  SourcePlace innermost;
  int64_t begin_ns = INT64_MIN;
  XP_TRY(EachEventAt(run.store(), Category::kPython, track_id, ts_ns,
                     [&](std::string_view event, int64_t event_ns) {
                       if (event_ns < begin_ns) return;
                       SourcePlace place = SourcePlace::ParsePythonCall(event);
                       if (!place.line || !user->IsUserCall(place)) return;
                       innermost = user->Resolve(std::move(place));
                       begin_ns = event_ns;
                     }));
  return innermost;
}

absl::StatusOr<Subject> CallByName(const Run& run, std::string_view function) {
  XP_TRY(const Compiles* compiles, run.whole().Get<Compiles>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  OptInt site;
  for (const CompileRow& row : compiles->rows) {
    if (function.empty() || row.cause != CutKind::kCall || row.function != function || !row.site_id)
      continue;
    if (site && site != row.site_id) return Subject();
    site = row.site_id;
  }
  return sites->SubjectOf(site);
}

absl::StatusOr<Subject> CallOf(const Run& run, int64_t graph_id) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  const OptText identity = graphs->IdentityOf(graph_id);
  Subject subject;
  auto take = [&](const auto& row) {
    if (!subject.file && graphs->IdentityOf(row.graph_id) == identity)
      subject = sites->SubjectOf(row.site_id);
  };
  XP_TRY(const Compiles* compiles, run.whole().Get<Compiles>());
  for (const CompileRow& row : compiles->rows) take(row);
  XP_TRY(const Executions* executions, run.Get<Executions>());
  for (const ExecutionRow& row : executions->rows) take(row);
  const GraphRow* graph = graphs->Find(graph_id);
  if (!subject.file && graph != nullptr) {
    XP_TRY(subject, CallByName(run, JaxFunctionOf(graph->name.value_or(""))));
  }
  subject.graph_hash = graphs->HashOf(graph_id);
  return subject;
}

}  // namespace xlaprof
