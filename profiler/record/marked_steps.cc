#include "profiler/record/marked_steps.h"

#include <algorithm>
#include <map>
#include <vector>

namespace xlaprof::record {
namespace {

// A row of table step.
struct Step {
  int64_t id = 0, begin_ns = 0, end_ns = 0;
  std::string name;   // "": a mark's
  int64_t marks = 0;  // in a scope
  bool is_gone = false;
};

struct Steps {
  std::vector<Step> scopes, marks;  // by start
};

absl::StatusOr<Steps> Load(const Store& store, int64_t process_id) {
  Steps steps;
  XP_TRY(store.Each(
      "SELECT id, coalesce(name, ''), ts_ns, dur_ns FROM step WHERE process_id = ?1 AND ts_ns IS "
      "NOT NULL AND dur_ns IS NOT NULL ORDER BY ts_ns, dur_ns DESC",
      [&](int64_t id, std::string name, int64_t ts_ns, int64_t dur_ns) {
        auto& of = name.empty() ? steps.marks : steps.scopes;
        of.push_back(
            {.id = id, .begin_ns = ts_ns, .end_ns = ts_ns + dur_ns, .name = std::move(name)});
      },
      process_id));
  return steps;
}

// Calls use(scope) for the scopes around a time, the innermost first. `scopes` are by start.
template <typename Use>
void EachAround(std::vector<Step>& scopes, int64_t ts_ns, Use use) {
  constexpr int kMaxTries = 64;  // scopes that follow each other and may nest a little
  auto after = std::ranges::lower_bound(scopes, ts_ns, {}, &Step::begin_ns);
  for (int tries = 0; after != scopes.begin() && tries < kMaxTries; ++tries) {
    --after;
    if (!after->is_gone && ts_ns <= after->end_ns) use(*after);
  }
}

// Returns the innermost scope around a time, or null if there is none.
Step* ScopeAt(std::vector<Step>& scopes, int64_t ts_ns) {
  Step* innermost = nullptr;
  EachAround(scopes, ts_ns, [&](Step& scope) {
    if (innermost == nullptr) innermost = &scope;
  });
  return innermost;
}

// Removes the scopes around loops of marks. Such a scope holds more marks than there are scopes of
// its name: one scope an epoch, and not one a step. The first mark inside has no step of its own,
// because nothing was marked before it. The scope's begin is the begin of that step.
absl::Status RemoveLoops(const Store& store, Steps& steps) {
  for (const Step& mark : steps.marks)
    EachAround(steps.scopes, mark.end_ns, [](Step& scope) { ++scope.marks; });
  std::map<std::string, int64_t> of_name;
  for (const Step& scope : steps.scopes) ++of_name[scope.name];
  for (Step& scope : steps.scopes) {
    if (scope.marks < 2 || scope.marks <= of_name[scope.name]) continue;
    scope.is_gone = true;
    const auto first = std::ranges::upper_bound(steps.marks, scope.begin_ns, {}, &Step::end_ns);
    if (first == steps.marks.end() || first->begin_ns <= scope.begin_ns) {
      XP_TRY(store.Run("DELETE FROM step WHERE id = ?1", scope.id));
    } else {
      XP_TRY(store.Run("UPDATE step SET name = NULL, number = NULL, dur_ns = ?2 WHERE id = ?1",
                       scope.id, first->begin_ns - scope.begin_ns));
    }
  }
  return absl::OkStatus();
}

// Gives the facts of a table to the scopes in which the host caused them.
absl::Status MoveFacts(const Store& store, int64_t process_id, std::string_view table,
                       std::string_view time, std::vector<Step>& scopes) {
  std::vector<std::pair<int64_t, int64_t>> moves;
  XP_TRY(store.Each(
      fmt::format("SELECT id, {0} FROM {1} WHERE process_id = ?1 AND {0} IS NOT NULL", time, table),
      [&](int64_t id, int64_t ts_ns) {
        if (const Step* scope = ScopeAt(scopes, ts_ns)) moves.emplace_back(id, scope->id);
      },
      process_id));
  for (auto [id, step_id] : moves) {
    XP_TRY(store.Run(fmt::format("UPDATE {} SET step_id = ?2 WHERE id = ?1", table), id, step_id));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status UniteSteps(Store& store, int64_t process_id) {
  XP_TRY(Steps steps, Load(store, process_id));
  if (steps.scopes.empty() || steps.marks.empty()) return absl::OkStatus();
  XP_TRY(RemoveLoops(store, steps));
  XP_TRY(store.Exec("CREATE TEMP TABLE marked_step (id INTEGER PRIMARY KEY, into_id INTEGER)"));
  for (const Step& mark : steps.marks) {
    if (const Step* scope = ScopeAt(steps.scopes, mark.end_ns))
      XP_TRY(store.Run("INSERT INTO marked_step VALUES (?1, ?2)", mark.id, scope->id));
  }
  for (const char* table : {"compile", "execution", "transfer", "fallback"}) {
    XP_TRY(
        store.Exec(fmt::format("UPDATE {0} SET step_id = m.into_id FROM marked_step AS m WHERE "
                               "{0}.step_id = m.id",
                               table)));
  }
  XP_TRY(store.Exec(
      "DELETE FROM step WHERE id IN (SELECT id FROM marked_step); DROP TABLE marked_step"));
  XP_TRY(MoveFacts(store, process_id, "compile", "ts_ns", steps.scopes));
  XP_TRY(MoveFacts(store, process_id, "execution", "enqueue_ts_ns", steps.scopes));
  XP_TRY(MoveFacts(store, process_id, "transfer", "ts_ns", steps.scopes));
  return store.Run(
      "UPDATE step SET ordinal = numbered.nth FROM (SELECT id, row_number() OVER (ORDER BY ts_ns, "
      "id) - 1 AS nth FROM step WHERE process_id = ?1) AS numbered WHERE step.id = numbered.id",
      process_id);
}

}  // namespace xlaprof::record
