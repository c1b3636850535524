// Finds programs that are compiled in each run, because no cache of compiled programs keeps them.
#include "analyzers/cache_not_used.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/run/cache_use.h"
#include "analyzers/run/work_unit.h"

namespace xlaprof {
namespace {

constexpr size_t kMostRows = 32;  // rows that a finding cites
constexpr size_t kMostNamed = 3;  // programs that are named

using ProgramKey = std::pair<ProgramCache, std::string>;

// The keys of the programs that any process of these files loaded, with the shortest time.
std::map<ProgramKey, int64_t> LoadTimes(const CacheUse& use) {
  std::map<ProgramKey, int64_t> times;
  for (const SoughtProgram& program : use.programs) {
    if (program.outcome != CacheOutcome::kServed || !program.dur_ns) continue;
    for (const ProgramKey& key : program.keys) {
      const auto [known, is_new] = times.try_emplace(key, *program.dur_ns);
      if (!is_new) known->second = std::min(known->second, *program.dur_ns);
    }
  }
  return times;
}

OptInt LoadTime(const SoughtProgram& program, const std::map<ProgramKey, int64_t>& times) {
  for (const ProgramKey& key : program.keys) {
    if (const auto known = times.find(key); known != times.end()) return known->second;
  }
  return {};
}

// Returns the programs that had another key in an earlier process, with the number of keys. Programs of
// one function with equal inputs may differ, for example by a static argument, so no key may be the same.
std::map<const SoughtProgram*, int64_t> UnstablePrograms(const CacheUse& use) {
  struct Seen {
    std::map<int64_t, std::set<std::string>> keys;  // by process
    std::set<std::string> stored;                   // keys that a cache keeps
    std::vector<const SoughtProgram*> programs;
  };
  std::map<std::pair<ProgramCache, std::string>, Seen> by_signature;
  for (const SoughtProgram& program : use.programs) {
    if (program.signature.empty()) continue;
    for (const auto& [cache, key] : program.keys) {
      Seen& seen = by_signature[{cache, program.signature}];
      seen.keys[program.process_id].insert(key);
      seen.programs.push_back(&program);
      if (program.outcome == CacheOutcome::kMissed) seen.stored.insert(key);
    }
  }
  std::map<const SoughtProgram*, int64_t> unstable;
  for (const auto& [signature, seen] : by_signature) {
    std::set<std::string> all;
    size_t count = 0;
    for (const auto& [process, keys] : seen.keys)
      count += keys.size(), all.insert(keys.begin(), keys.end());
    if (seen.keys.size() < 2 || all.size() != count || seen.stored.empty()) continue;
    for (const SoughtProgram* program : seen.programs) {
      const bool is_later = program->process_id != seen.keys.begin()->first;
      if (is_later && program->outcome == CacheOutcome::kMissed)
        unstable[program] = int64_t(seen.keys.size());
    }
  }
  return unstable;
}

// Programs of one process that one remedy helps.
struct CacheGroup {
  std::vector<const SoughtProgram*> programs;
  int64_t ns = 0;
  int64_t runs = 0;  // of unstable keys
};

// What one remedy is for: a reason, and its details.
struct Kind {
  ReasonType reason = ReasonType::kUnknown;
  std::optional<NotStored> why;
  bool was_asked = true;
  auto operator<=>(const Kind&) const = default;
};

std::optional<Kind> KindOf(const SoughtProgram& program, bool is_unstable) {
  switch (program.outcome) {
    case CacheOutcome::kServed:
      return {};
    case CacheOutcome::kTooFast:
      return Kind{ReasonType::kBelowThreshold, program.why};
    case CacheOutcome::kNotKept:
      return Kind{ReasonType::kNoCache, program.why, program.was_asked};
    case CacheOutcome::kMissed:
      return Kind{is_unstable ? ReasonType::kUnstableKeys : ReasonType::kEmptyCache, {}};
  }
  return {};
}

// Returns whether compiling these programs is a considerable part of a process, which compiles for
// `compiling_ns` and whose time is `run_ns`, if known.
bool IsConsiderable(int64_t ns, int64_t compiling_ns, OptInt run_ns) {
  const int64_t all_ns = std::max(compiling_ns, run_ns.value_or(0));
  return ns >= policy::kUncachedCompilingNs &&
         double(ns) >= policy::kUncachedCompilingShare * double(all_ns);
}

// Returns whether a change of the program or its settings lets a cache keep these programs.
bool IsAvoidable(const Kind& kind, const CacheGroup& group) {
  switch (kind.reason) {
    case ReasonType::kBelowThreshold:
      return true;
    case ReasonType::kNoCache:
      // Many programs use no cache, and torch.compile does not cache what calls Python.
      return kind.was_asked &&
             (kind.why == NotStored::kDisabled || kind.why == NotStored::kWriteFailed);
    case ReasonType::kUnstableKeys:
      return group.runs >= policy::kRunsWithOtherKeys;
    default:
      return false;
  }
}

// Returns whether a finding is worth its line. Programs that the next run finds, and those of a program
// without a cache, are told only if compiling them takes long.
bool IsWorthTelling(const Kind& kind, const CacheGroup& group, bool is_considerable) {
  if (kind.reason == ReasonType::kNoCache && !kind.was_asked) return is_considerable;
  if (kind.reason == ReasonType::kEmptyCache) return group.ns >= policy::kMissedCompilingNs;
  return true;
}

Finding FindingOf(const Kind& kind, CacheGroup group,
                  const std::map<ProgramKey, int64_t>& load_times) {
  Finding finding{.count = int64_t(group.programs.size()),
                  .reason = Reason{.type = kind.reason},
                  .evidence = {{.table = "cache_lookup"}}};
  CacheNotUsedFigures figures{.why = kind.why, .was_asked = kind.was_asked};
  std::ranges::stable_sort(group.programs, std::greater(),
                           [](const SoughtProgram* one) { return one->dur_ns.value_or(-1); });
  std::set<ProgramCache> caches;
  for (const SoughtProgram* program : group.programs) {
    caches.insert(program->caches.begin(), program->caches.end());
    figures.untimed += !program->dur_ns;
    if (program->least_ns) figures.least_ns = program->least_ns;
    if (program->dur_ns && !program->name.empty() && figures.longest.size() < kMostNamed)
      figures.longest.push_back({program->name, *program->dur_ns});
    for (const int64_t row : program->lookups) {
      if (finding.evidence[0].rows.size() < kMostRows) finding.evidence[0].rows.push_back(row);
    }
    const OptInt load_ns = LoadTime(*program, load_times);
    if (!load_ns || !program->dur_ns) continue;
    ++figures.loaded;
    figures.loaded_compile_ns += *program->dur_ns, figures.load_ns += *load_ns;
  }
  figures.caches.assign(caches.begin(), caches.end());
  finding.reason->node = TextOf(figures.caches.front());
  if (figures.untimed < *finding.count) {
    finding.cost_ns = group.ns;
    // The next run loads the programs instead. How long that takes is known only from such a run.
    const int64_t saving_ns = std::max<int64_t>(0, group.ns - figures.load_ns);
    const int64_t proven_ns =
        std::clamp<int64_t>(figures.loaded_compile_ns - figures.load_ns, 0, saving_ns);
    if (saving_ns > 0) {
      finding.saving_ns = saving_ns;
      finding.saving_interval_ns = {proven_ns, saving_ns};
    }
    const bool is_proven = figures.loaded == *finding.count;
    finding.certainty = is_proven ? Certainty::kMeasured : Certainty::kInferred;
  }
  finding.figures = std::move(figures);
  return finding;
}

absl::StatusOr<Findings> FindUnusedCaches(const Run& run) {
  XP_TRY(const CacheUse* use, run.Get<CacheUse>());
  Findings findings;
  if (use->programs.empty()) return findings;
  XP_TRY(const CompileSites* compiled, run.Get<CompileSites>());
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  const std::map<ProgramKey, int64_t> load_times = LoadTimes(*use);
  const std::map<const SoughtProgram*, int64_t> unstable = UnstablePrograms(*use);
  std::map<Kind, std::map<int64_t, CacheGroup>> kinds;  // by process
  std::map<int64_t, int64_t> sought, served;
  std::map<int64_t, OptInt> saved_ns;
  for (const SoughtProgram& program : use->programs) {
    const int64_t process_id = program.process_id;
    sought[process_id] += program.was_asked;
    if (program.outcome == CacheOutcome::kServed) {
      ++served[process_id];
      if (program.saved_ns)
        saved_ns[process_id] = saved_ns[process_id].value_or(0) + *program.saved_ns;
    }
    const auto other_keys = unstable.find(&program);
    const std::optional<Kind> kind = KindOf(program, other_keys != unstable.end());
    if (!kind) continue;
    CacheGroup& group = kinds[*kind][process_id];
    group.programs.push_back(&program);
    group.ns += program.dur_ns.value_or(0);
    if (other_keys != unstable.end()) group.runs = std::max(group.runs, other_keys->second);
  }
  for (const auto& [kind, by_process] : kinds) {
    // Processes of a job compile at the same time.
    const auto most = std::ranges::max_element(by_process, {}, [](const auto& one) {
      return std::pair(one.second.ns, one.second.programs.size());
    });
    const auto& [process_id, group] = *most;
    const auto compiling = compiled->compiling_ns.find(process_id);
    const bool is_considerable =
        IsConsiderable(group.ns, compiling == compiled->compiling_ns.end() ? 0 : compiling->second,
                       times->Of(process_id));
    if (!IsWorthTelling(kind, group, is_considerable)) continue;
    Finding finding = FindingOf(kind, group, load_times);
    finding.needs_fixing = is_considerable && IsAvoidable(kind, group);
    auto& figures = std::any_cast<CacheNotUsedFigures&>(finding.figures);
    figures.sought = sought[process_id], figures.served = served[process_id];
    figures.served_saved_ns = saved_ns[process_id];
    figures.processes = int64_t(by_process.size());
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer cache_not_used{
    .name = "cache_not_used",
    .summary = "programs that every run compiles, because no cache of programs keeps them",
    .meaning =
        "A cache of compiled programs outlives the process, so that the next run loads what this one compiled. The finding says which programs it does not keep, why, and how long compiling them takes in every run. A first run with an empty cache compiles everything once, and nothing needs to change.",
    .looks_at = "what caches of programs answered, compiles with times",
    .find = FindUnusedCaches,
    .say = SayCacheNotUsed,
    .thresholds = {policy::kUncachedCompilingShare, policy::kUncachedCompilingNs,
                   policy::kMissedCompilingNs, policy::kRunsWithOtherKeys},
    .is_paid_once = true,
    .spent_on = SpentOn::kCompiling};

}  // namespace xlaprof
