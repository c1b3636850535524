// Finds the steps. An XSpace shows those of its window, with times. The debug log and the dump show
// where each step ended, by the cause of the execution that ended it. Both are joined into one
// list, and every compile and execution gets its step.
#include <algorithm>
#include <map>

#include "profiler/import/join/inner_marks.h"
#include "profiler/import/join/join.h"
#include "profiler/import/text/python_frames.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

struct Cut {
  bool is_compile = false;
  int64_t id = 0;
  OptInt step_id;
  CutKind cause = CutKind::kUnknown;
  int64_t site_id = 0;
  int64_t graph = 0;  // number of the graph; equal graphs have equal numbers
  bool is_in_forward = false;

  bool is_mark() const { return !is_compile && EndsStep(cause); }
  MarkPlace place() const { return {cause, site_id}; }
};

// Runs a statement with its two parameters.
absl::Status RunWith(Statement& statement, int64_t first, int64_t second) {
  statement.Bind(1, first);
  statement.Bind(2, second);
  absl::Status status = internal::ToStatus(statement.Step());
  statement.Reset();
  return status;
}

struct NewStep {
  OptInt id;  // step of an XSpace, or none yet
  std::vector<const Cut*> cuts;
};

absl::StatusOr<std::vector<Cut>> CutsOf(const Store& store, int64_t process_id) {
  std::vector<Cut> cuts;
  std::map<std::string, int64_t, std::less<>> numbers;  // of graphs, by hash or else by row
  XP_TRY(store.Each(
      "SELECT 1, id, step_id, coalesce(cause, ''), coalesce(site_id, 0), '', ordinal, 0 FROM "
      "compile WHERE process_id = ?1 UNION ALL "
      "SELECT 0, e.id, step_id, coalesce(cause, ''), coalesce(site_id, 0), coalesce(g.hash, "
      "'row ' || g.id, ''), ordinal, coalesce('.' || s.function LIKE '%.forward', 0) FROM execution "
      "e LEFT JOIN graph g ON g.id = e.graph_id LEFT JOIN site s ON s.id = e.site_id WHERE "
      "e.process_id = ?1 ORDER BY 7, 1 DESC",
      [&](bool is_compile, int64_t id, OptInt step, CutKind cause, int64_t site, std::string graph,
          int64_t, bool is_in_forward) {
        const int64_t number =
            numbers.try_emplace(std::move(graph), int64_t(numbers.size())).first->second;
        cuts.push_back({is_compile, id, step, cause, site, number, is_in_forward});
      },
      process_id));
  return cuts;
}

// Divides cuts into steps at the step marks, without those inside steps. A step mark that occurs
// once, while others repeat, is set-up (a loader's first sync, moving the model) and not a step.
std::vector<NewStep> DivideAtMarks(const std::vector<Cut>& cuts) {
  constexpr int64_t kRepeats = 3;  // marks of one kind and place that make it the step's
  std::vector<StepMark> marks;
  for (const Cut& cut : cuts) {
    if (cut.is_mark()) marks.push_back({cut.place(), cut.graph, cut.is_in_forward});
  }
  const std::set<MarkPlace> inner = InnerMarks(marks);
  std::map<MarkPlace, int64_t> count;
  int64_t most = 0;
  for (const StepMark& mark : marks) most = std::max(most, ++count[mark.place]);
  const auto is_set_up = [&](const Cut& cut) {
    return most >= kRepeats && count[cut.place()] == 1 && !cut.step_id.has_value();
  };
  std::vector<NewStep> steps;
  std::vector<const Cut*> open;
  for (const Cut& cut : cuts) {
    open.push_back(&cut);
    if (!cut.is_mark() || inner.contains(cut.place())) continue;
    if (is_set_up(cut)) {
      open.clear();
      continue;
    }
    NewStep step{.id = cut.step_id, .cuts = std::move(open)};
    open.clear();
    // Two marks are inside one step of the user.
    if (step.id && !steps.empty() && steps.back().id == step.id) {
      steps.back().cuts.insert(steps.back().cuts.end(), step.cuts.begin(), step.cuts.end());
    } else {
      steps.push_back(std::move(step));
    }
  }
  return steps;
}

// Adds the steps that have no row yet, and numbers all steps. They are in the order of their cuts.
// Steps of an XSpace without any cut, which are in `timed` only, are placed by their time.
absl::Status NumberSteps(Store& store, int64_t process_id, const std::vector<int64_t>& timed,
                         std::vector<NewStep>& steps) {
  std::vector<int64_t> order;
  size_t next_timed = 0;
  for (NewStep& step : steps) {
    if (step.id) {
      while (next_timed < timed.size() && timed[next_timed] != *step.id)
        order.push_back(timed[next_timed++]);
      if (next_timed < timed.size()) ++next_timed;
    } else {
      XP_TRY(int64_t id, store.Add(StepRow{.process_id = process_id}));
      step.id = id;
    }
    order.push_back(*step.id);
  }
  while (next_timed < timed.size()) order.push_back(timed[next_timed++]);
  XP_TRY(Statement set_ordinal, store.Prepare("UPDATE step SET ordinal = ?2 WHERE id = ?1"));
  absl::flat_hash_map<int64_t, int64_t> ordinals;
  for (int64_t id : order) {
    auto [place, is_new] = ordinals.emplace(id, int64_t(ordinals.size()));
    if (is_new) XP_TRY(RunWith(set_ordinal, id, place->second));
  }
  return absl::OkStatus();
}

// Adds the steps of a process. `timed` are the steps that the process has already, by their time.
absl::Status StepsOf(Store& store, int64_t process_id, const std::vector<int64_t>& timed) {
  XP_TRY(const std::vector<Cut> cuts, CutsOf(store, process_id));
  if (cuts.empty() && timed.empty()) return absl::OkStatus();
  std::vector<NewStep> steps = DivideAtMarks(cuts);
  XP_TRY(NumberSteps(store, process_id, timed, steps));
  XP_TRY(Statement set_compile,
         store.Prepare("UPDATE compile SET step_id = coalesce(step_id, ?2) WHERE id = ?1"));
  XP_TRY(Statement set_execution,
         store.Prepare("UPDATE execution SET step_id = coalesce(step_id, ?2) WHERE id = ?1"));
  for (const NewStep& step : steps) {
    for (const Cut* cut : step.cuts)
      XP_TRY(RunWith(cut->is_compile ? set_compile : set_execution, cut->id, *step.id));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JoinSteps(Store& store) {
  // A recording has every step of its process, and also marks that end none, such as an
  // evaluation's.
  XP_TRY(std::vector<int64_t> processes,
         store.Collect("SELECT p.id FROM process p WHERE NOT EXISTS (SELECT 1 FROM recording "
                       "WHERE process_id = p.id) OR NOT EXISTS (SELECT 1 FROM step WHERE "
                       "process_id = p.id)",
                       [](int64_t id) { return id; }));
  std::map<int64_t, std::vector<int64_t>> timed;
  XP_TRY(
      store.Each("SELECT process_id, id FROM step WHERE "
                 "process_id IS NOT NULL ORDER BY ts_ns, ordinal",
                 [&](int64_t process_id, int64_t id) { timed[process_id].push_back(id); }));
  for (int64_t process : processes) XP_TRY(StepsOf(store, process, timed[process]));
  return absl::OkStatus();
}

}  // namespace xlaprof
