#include "analyzers/run/cache_use.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/user_call.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Returns whether a cache keeps the result of this part of a compilation.
bool IsKept(CompilePhase phase, const std::set<ProgramCache>& caches) {
  switch (phase) {
    case CompilePhase::kDynamo:
      return false;
    case CompilePhase::kAotAutograd:
      return caches.contains(ProgramCache::kAotAutograd);
    case CompilePhase::kInductor:
    case CompilePhase::kCodeGeneration:
    case CompilePhase::kToolchainProbe:
    case CompilePhase::kUnknown:
      break;
  }
  return true;
}

CacheOutcome OutcomeOf(NotStored why) {
  switch (why) {
    case NotStored::kCompiledFast:
    case NotStored::kSmall:
      return CacheOutcome::kTooFast;
    case NotStored::kOtherProcess:
      return CacheOutcome::kMissed;
    case NotStored::kDisabled:
    case NotStored::kHostCallback:
    case NotStored::kWriteFailed:
    case NotStored::kUnknown:
      break;
  }
  return CacheOutcome::kNotKept;
}

// Adds the answer of one cache. If several caches were asked, one that has the program decides.
void Add(const CacheLookupRow& row, SoughtProgram& program) {
  const bool is_first = program.lookups.empty();
  program.lookups.push_back(row.id);
  program.caches.insert(row.cache);
  if (program.name.empty()) program.name = row.program.value_or("");
  if (row.key) program.keys.emplace(row.cache, *row.key);
  if (row.least_ns) program.least_ns = row.least_ns;
  program.was_asked = (!is_first && program.was_asked) || row.result != CacheResult::kBypass;
  if (row.saved_ns) program.saved_ns = program.saved_ns.value_or(0) + *row.saved_ns;
  if (row.result == CacheResult::kHit) {
    program.outcome = CacheOutcome::kServed;
    program.why.reset();
  } else if (program.outcome != CacheOutcome::kServed) {
    if (row.not_stored) program.why = row.not_stored;
    program.outcome = program.why         ? OutcomeOf(*program.why)
                      : program.was_asked ? CacheOutcome::kMissed
                                          : CacheOutcome::kNotKept;
  }
}

// Returns a text for each graph that lists the types of its inputs, in order.
absl::StatusOr<absl::flat_hash_map<int64_t, std::string>> InputTypes(
    const Run& run, const std::map<int64_t, size_t>& by_graph) {
  absl::flat_hash_map<int64_t, std::string> types;
  for (const auto& [graph_id, program] : by_graph) {
    XP_TRY(const std::vector<GraphNodeRow> nodes,
           run.Rows<GraphNodeRow>("WHERE graph_id = ?1 ORDER BY idx", graph_id));
    std::string& text = types[graph_id];
    for (const GraphNodeRow& node : nodes)
      text += fmt::format("|{} {} {}", node.op, node.shape, node.attributes.value_or(""));
  }
  return types;
}

}  // namespace

absl::StatusOr<CacheUse> CacheUse::Of(const Run& run) {
  CacheUse use;
  XP_TRY(std::vector<CacheLookupRow> rows, run.Rows<CacheLookupRow>("ORDER BY id"));
  if (rows.empty()) return use;
  std::ranges::stable_sort(rows, {}, [](const CacheLookupRow& row) {
    return std::pair(row.process_id.value_or(0), row.ordinal);
  });
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  absl::flat_hash_map<int64_t, const CompileRow*> by_id;
  for (const CompileRow& row : compiles->rows) by_id[row.id] = &row;
  XP_TRY(const CompilePhases* phases, run.Get<CompilePhases>());

  std::map<int64_t, size_t> of_compile;
  std::map<int64_t, size_t> by_graph;
  std::set<int64_t> processes;
  for (const CacheLookupRow& row : rows) {
    const auto asked = row.compile_id ? by_id.find(*row.compile_id) : by_id.end();
    size_t index = use.programs.size();
    if (asked != by_id.end()) index = of_compile.try_emplace(asked->first, index).first->second;
    if (index == use.programs.size()) {
      use.programs.push_back({.process_id = row.process_id.value_or(0)});
      processes.insert(row.process_id.value_or(0));
      if (asked != by_id.end()) {
        const CompileRow& compile = *asked->second;
        use.programs.back().name = compile.function.value_or("");
        if (compile.graph_id) by_graph.try_emplace(*compile.graph_id, index);
      }
    }
    Add(row, use.programs[index]);
  }
  for (const auto& [compile_id, index] : of_compile) {
    const CompileRow& compile = *by_id.at(compile_id);
    SoughtProgram& program = use.programs[index];
    program.dur_ns = compile.dur_ns;
    const CompilePhases::Parts* parts = phases->Find(compile_id);
    if (parts == nullptr) continue;
    program.dur_ns = 0;
    for (const auto& [phase, ns] : *parts)
      *program.dur_ns += IsKept(phase, program.caches) ? ns : 0;
  }
  // Only programs of several processes are compared.
  if (processes.size() < 2) return use;
  XP_TRY(const auto types, InputTypes(run, by_graph));
  for (const auto& [compile_id, index] : of_compile) {
    const CompileRow& compile = *by_id.at(compile_id);
    if (!compile.graph_id || !compile.function) continue;
    const auto known = types.find(*compile.graph_id);
    if (known != types.end() && !known->second.empty())
      use.programs[index].signature = *compile.function + known->second;
  }
  return use;
}

bool CacheClears::AnyBetween(int64_t from_ns, int64_t to_ns) const {
  const auto first = std::ranges::lower_bound(starts_ns, from_ns);
  return first != starts_ns.end() && *first <= to_ns;
}

absl::StatusOr<CacheClears> CacheClears::Of(const Run& run) {
  CacheClears clears;
  XP_TRY(const auto names, NamesOfJaxCalls(run.store(), "clear_caches"));
  if (names.empty()) return clears;
  int64_t first_track = 0;
  XP_TRY(EachEvent(
      run.store(),
      {.columns = kStart | kName, .categories = {run.store().Find(TextOf(Category::kPython))}},
      [&](const EventBatch& batch, size_t i) {
        if (!names.contains(batch.name[i])) return;
        if (clears.starts_ns.empty() ||
            batch.ts_ns[i] < *std::ranges::min_element(clears.starts_ns))
          first_track = batch.track_id;
        clears.starts_ns.push_back(batch.ts_ns[i]);
      }));
  std::ranges::sort(clears.starts_ns);
  if (clears.starts_ns.empty()) return clears;
  XP_TRY(clears.caller, UserCallAt(run, first_track, clears.starts_ns.front()));
  return clears;
}

}  // namespace xlaprof
