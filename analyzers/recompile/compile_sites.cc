#include "analyzers/recompile/compile_sites.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <tuple>

#include "analyzers/recompile/outside_jit.h"
#include "analyzers/recompile/state.h"

namespace xlaprof {
namespace {

// A cut that ends a step (execution.cause).
constexpr const char* kEndsStep =
    "('user_sync', 'step_trace_exit', 'parallel_loader', 'torch_xla_compile', 'sync')";

struct Graphs {
  struct Known {
    OptInt input_count, output_count;
    std::vector<std::pair<PrintedForm, int64_t>> forms;
  };
  absl::flat_hash_map<std::string, Known> by_hash;
  absl::flat_hash_map<int64_t, PrintedForm> form;  // of a row
};

absl::StatusOr<Graphs> LoadGraphs(const Run& run) {
  Graphs graphs;
  XP_TRY(run.store().Each(
      "SELECT id, hash, printed_as, input_count, output_count, coalesce(node_count, 1) FROM graph "
      "ORDER BY id",
      [&](int64_t id, std::optional<std::string> hash, std::optional<PrintedForm> printed_as,
          OptInt inputs, OptInt outputs, int64_t nodes) {
        const bool printed = printed_as && nodes > 0;
        if (printed) graphs.form[id] = *printed_as;
        if (!hash) return;
        Graphs::Known& known = graphs.by_hash[*hash];
        // A dump counts parameter nodes, of which several may be one parameter: who does not print
        // knows better.
        if (inputs && (!known.input_count || !printed)) known.input_count = inputs;
        if (outputs && (!known.output_count || !printed)) known.output_count = outputs;
        if (printed) known.forms.emplace_back(*printed_as, id);
      }));
  return graphs;
}

absl::Status LoadSteps(const Run& run, int64_t process_id, StepsSeen* steps,
                       absl::flat_hash_map<int64_t, int64_t>* index_of_id) {
  std::vector<OptInt> numbers;
  XP_TRY(run.store().Each(
      "SELECT id, number, coalesce(name, '') FROM step WHERE process_id = ?1 ORDER BY ordinal, "
      "ts_ns, number",
      [&](int64_t id, OptInt number, std::string name) {
        (*index_of_id)[id] = static_cast<int64_t>(numbers.size());
        numbers.push_back(number);
        if (steps->name.empty()) steps->name = std::move(name);
      },
      process_id));
  if (numbers.empty()) return absl::OkStatus();
  // A window that opens in the middle of a run, or a slice: its first step is no warm-up.
  int64_t offset = 0;
  if (numbers.front() && *numbers.front() >= kWarmUpSteps) {
    offset = *numbers.front();
  } else {
    XP_TRY(OptInt ordinal, run.store().One<int64_t>(
                               "SELECT min(ordinal) FROM step WHERE process_id = ?1", process_id));
    offset = ordinal.value_or(0);
  }
  for (auto& [id, index] : *index_of_id) index += offset;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i]) steps->number[offset + static_cast<int64_t>(i)] = *numbers[i];
  }
  steps->known = true;
  steps->first = offset;
  steps->last = offset + static_cast<int64_t>(numbers.size()) - 1;
  steps->from = StepsFrom::kSteps;
  return absl::OkStatus();
}

// The step of each compile of one process.
absl::Status PlaceInSteps(const Run& run, int64_t process_id, std::vector<CompileFact*> compiles,
                          const absl::flat_hash_map<int64_t, OptInt>& step_of_compile,
                          StepsSeen* steps) {
  absl::flat_hash_map<int64_t, int64_t> index_of_id;
  XP_TRY(LoadSteps(run, process_id, steps, &index_of_id));
  // Ordinals at which a step is known (or, without steps, ended): a compile belongs to the first
  // one that is not before it.
  std::vector<std::pair<int64_t, int64_t>> marks;  // ordinal, step
  if (steps->known) {
    XP_TRY(run.store().Each(
        "SELECT ordinal, step_id FROM execution WHERE process_id = ?1 AND step_id IS NOT NULL "
        "UNION ALL "
        "SELECT ordinal, step_id FROM compile WHERE process_id = ?1 AND step_id IS NOT NULL ORDER "
        "BY 1",
        [&](int64_t ordinal, int64_t step_id) {
          if (const auto at = index_of_id.find(step_id); at != index_of_id.end())
            marks.emplace_back(ordinal, at->second);
        },
        process_id));
    if (marks.empty())
      *steps = StepsSeen{.name = steps->name};  // no fact lies in a step: they tell nothing
  }
  if (!steps->known) {
    for (const auto& [from, which] :
         {std::pair<StepsFrom, std::string>{StepsFrom::kStepEndingExecutions,
                                            fmt::format("AND cause IN {}", kEndsStep)},
          {StepsFrom::kExecutions, ""}}) {
      XP_TRY(run.store().Each(
          fmt::format("SELECT ordinal FROM execution WHERE process_id = ?1 {} ORDER BY ordinal",
                      which),
          [&](int64_t ordinal) { marks.emplace_back(ordinal, static_cast<int64_t>(marks.size())); },
          process_id));
      if (marks.empty()) continue;
      steps->known = true;
      steps->first = 0;
      steps->last = static_cast<int64_t>(marks.size()) - 1;
      steps->from = from;
      break;
    }
  }
  if (!steps->known) return absl::OkStatus();
  for (CompileFact* compile : compiles) {
    if (const OptInt step_id = step_of_compile.at(compile->id)) {
      if (const auto at = index_of_id.find(*step_id); at != index_of_id.end()) {
        compile->step = at->second;
        continue;
      }
    }
    const auto mark = std::lower_bound(marks.begin(), marks.end(),
                                       std::pair(compile->ordinal, int64_t{INT64_MIN}));
    compile->step = mark == marks.end() ? steps->last : mark->second;
  }
  return absl::OkStatus();
}

// Names that many functions have.
bool IsCommonName(std::string_view function) {
  return function.find("<lambda>") != std::string_view::npos || function == "wrapped" ||
         function == "fn" || function == "f" || function == "<unnamed wrapped function>";
}

}  // namespace

absl::StatusOr<RecompileFacts> RecompileFacts::Of(const Run& run) {
  RecompileFacts facts;
  XP_TRY(const Graphs graphs, LoadGraphs(run));
  std::vector<CompileFact> compiles;
  absl::flat_hash_map<int64_t, OptInt> step_of_compile;
  XP_TRY(run.store().Each(
      "SELECT c.id, coalesce(c.process_id, 0), c.ordinal, c.graph_id, c.site_id, c.dur_ns, "
      "c.ts_ns, c.trace_ns, c.persistent_hit, coalesce(g.hash, ''), "
      "coalesce(c.cause, ''), coalesce(c.function, ''), coalesce(c.dur_from, ''), c.input_bytes, "
      "c.output_bytes, "
      "c.alias_bytes, c.temp_bytes, g.input_count, g.output_count, c.inferred, c.step_id, "
      "c.id IN (SELECT id FROM compile), c.stack_id IS NOT NULL FROM main.compile c "
      "LEFT JOIN graph g ON g.id = c.graph_id ORDER BY 2, c.ordinal, c.ts_ns, g.hash, c.id",
      [&](int64_t id, int64_t process_id, int64_t ordinal, OptInt graph_id, OptInt site_id,
          OptInt dur_ns, OptInt ts_ns, OptInt trace_ns, std::optional<bool> persistent_hit,
          std::string hash, CutKind cause, std::string function, TimeSource dur_from,
          OptInt input_bytes, OptInt output_bytes, OptInt alias_bytes, OptInt temp_bytes,
          OptInt inputs, OptInt outputs, bool inferred, OptInt step_id, bool in_slice,
          bool has_stack) {
        step_of_compile[id] = step_id;
        CompileFact fact{.id = id,
                         .process_id = process_id,
                         .ordinal = ordinal,
                         .graph_id = graph_id,
                         .site_id = site_id,
                         .dur_ns = dur_ns,
                         .ts_ns = ts_ns,
                         .trace_ns = trace_ns,
                         .persistent_hit = persistent_hit,
                         .hash = std::move(hash),
                         .cause = cause,
                         .function = std::move(function),
                         .dur_from = dur_from,
                         .input_bytes = input_bytes,
                         .output_bytes = output_bytes,
                         .alias_bytes = alias_bytes,
                         .temp_bytes = temp_bytes,
                         .input_count = inputs,
                         .output_count = outputs,
                         .in_slice = in_slice,
                         .inferred = inferred};
        fact.explained =
            has_stack && (fact.cause == CutKind::kCall || fact.cause == CutKind::kOperation);
        if (const auto known = graphs.by_hash.find(fact.hash);
            !fact.hash.empty() && known != graphs.by_hash.end()) {
          fact.forms = known->second.forms;
          fact.input_count = known->second.input_count,
          fact.output_count = known->second.output_count;
        } else if (graph_id) {
          if (const auto form = graphs.form.find(*graph_id); form != graphs.form.end()) {
            fact.forms.emplace_back(form->second, *graph_id);
          }
        }
        compiles.push_back(std::move(fact));
      }));

  std::map<int64_t, std::vector<CompileFact*>> by_process;
  for (CompileFact& compile : compiles) by_process[compile.process_id].push_back(&compile);
  for (auto& [process_id, list] : by_process) {
    XP_TRY(PlaceInSteps(run, process_id, list, step_of_compile, &facts.steps[process_id]));
    XP_TRY(
        facts.wall_ns[process_id],
        run.store().One<int64_t>(
            "SELECT max(ts_ns + coalesce(dur_ns, 0)) - min(ts_ns) FROM (SELECT ts_ns, dur_ns FROM "
            "step WHERE process_id = ?1 UNION ALL SELECT ts_ns, dur_ns FROM compile WHERE "
            "process_id "
            "= ?1 UNION ALL SELECT ts_ns, dur_ns FROM execution WHERE process_id = ?1)",
            process_id));
  }

  XP_TRY(run.store().Each("SELECT id, coalesce(function, ''), coalesce(file, ''), line FROM site",
                          [&](int64_t id, std::string function, std::string file, OptInt line) {
                            facts.places[id] = {std::move(file), line, std::move(function)};
                          }));
  for (const CompileFact& compile : compiles)
    facts.compiling_ns[compile.process_id] += compile.compiling_ns();
  XP_TRY(std::vector<CompileFact> operations, TakeOperations(run, compiles));
  for (CompileFact& operation : operations)
    facts.operations[operation.process_id].push_back(std::move(operation));
  std::map<std::tuple<int64_t, CutKind, std::string, int64_t>, size_t> index;
  for (CompileFact& compile : compiles) {
    const bool by_function = !compile.function.empty() && !IsCommonName(compile.function);
    const std::tuple key(compile.process_id, compile.cause, compile.function,
                         by_function ? int64_t{-1} : compile.site_id.value_or(-1));
    const auto [at, is_new] = index.try_emplace(key, facts.sites.size());
    if (is_new) {
      CompileSite site{.process_id = compile.process_id,
                       .cause = compile.cause,
                       .function = compile.function,
                       .site_id = compile.site_id};
      if (compile.site_id && facts.places.contains(*compile.site_id))
        site.place = facts.places[*compile.site_id];
      facts.sites.push_back(std::move(site));
    }
    facts.sites[at->second].compiles.push_back(std::move(compile));
  }
  return facts;
}

}  // namespace xlaprof
