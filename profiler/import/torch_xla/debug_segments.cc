// Finds where one log holds several runs: torch_xla appends to PT_XLA_DEBUG_FILE, so a second run's
// lines follow the first's.
//
// Two marks show that a process started again.
// (1) The first graph of the run is compiled again. A process keeps its graphs in memory, so it
//     compiles a graph twice only if 2048 others pushed it out, or if the cache was made very
//     small. It is a restart only if
//       - fewer than 2048 graphs were compiled since that graph was,
//       - no later execution uses a graph that was compiled only before the mark (its process would
//         still live, and this was another process writing to the same log), and
//       - the cache was seen to hold: a graph was executed again without a new compilation, or the
//         log holds no Execution blocks that could show it, or ten graphs were compiled (smaller
//         caches are set in tests of eviction, where the cycle starts over as a restart would).
//     A restart that finds all its graphs in a persistent cache, or whose program's first graph is
//     another one, leaves no such mark.
// (2) `during N steps` of a pt-xla-profiler rule falls by eight or more, to an N that continues no
//     recent line, and the old numbers do not continue afterwards. Processes that write to one log
//     are a few steps apart, or continue together.
#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include <algorithm>

#include "profiler/import/torch_xla/debug_blocks.h"

namespace xlaprof {
namespace {

constexpr int kCacheGraphs = 2048;        // XLA_COMPILATION_CACHE_SIZE, unless it was set
constexpr int kUnlikelyCacheGraphs = 10;  // nobody trains with a cache that holds fewer
// Steps between processes of one job; collectives keep them together.
constexpr int64_t kProcessSkewSteps = 8;
constexpr size_t kRecentLines = 256;  // lines of one rule; a host has fewer processes

using Facts = std::vector<const DebugFact*>;  // facts of one origin, in order

// The facts of one process so far.
struct Run {
  std::string first_hash;
  // By graph, how many compilations came before its last.
  absl::flat_hash_map<std::string, int> compiled;
  absl::flat_hash_set<std::string> executed;  // graphs executed since their last compilation
  int compiles = 0;
  bool cache_held = false;
  absl::flat_hash_map<ProfilerRule, std::vector<int64_t>> steps;  // rule -> N of its lines

  void Add(const DebugFact& fact) {
    if (fact.kind == DebugFact::kCompile && !fact.hash.empty()) {
      if (first_hash.empty()) first_hash = fact.hash;
      compiled[fact.hash] = compiles++;
      executed.erase(fact.hash);
    } else if (fact.kind == DebugFact::kExecution && !fact.hash.empty()) {
      if (!executed.insert(fact.hash).second) cache_held = true;
    } else if (fact.kind == DebugFact::kProfilerLine && fact.steps) {
      steps[fact.rule].push_back(*fact.steps);
    }
  }
};

bool CompilesAnew(const Run& run, const Facts& facts, size_t at, bool shows_executions) {
  const DebugFact& fact = *facts[at];
  if (fact.kind != DebugFact::kCompile || fact.hash.empty() || fact.hash != run.first_hash)
    return false;
  if (run.compiles - run.compiled.at(fact.hash) > kCacheGraphs) return false;
  if (shows_executions ? !run.cache_held && run.compiles < kUnlikelyCacheGraphs
                       : run.compiled.size() < 2)
    return false;
  absl::flat_hash_set<std::string_view> since;
  for (size_t i = at; i < facts.size(); ++i) {
    const DebugFact& later = *facts[i];
    if (later.kind == DebugFact::kCompile) {
      if (i > at && later.hash == fact.hash) break;
      since.insert(later.hash);
    } else if (later.kind == DebugFact::kExecution && run.compiled.contains(later.hash) &&
               !since.contains(later.hash)) {
      return false;
    }
  }
  return true;
}

bool CountsAnew(const Run& run, const Facts& facts, size_t at) {
  const DebugFact& fact = *facts[at];
  if (fact.kind != DebugFact::kProfilerLine || !fact.steps) return false;
  auto lines = run.steps.find(fact.rule);
  if (lines == run.steps.end()) return false;
  const std::vector<int64_t>& steps = lines->second;
  auto recent = steps.end() - std::min(std::ptrdiff_t(kRecentLines), std::ptrdiff_t(steps.size()));
  int64_t before = *std::max_element(recent, steps.end());
  if (before - *fact.steps < kProcessSkewSteps) return false;
  if (std::find(recent, steps.end(), *fact.steps - 1) != steps.end()) return false;
  int64_t reached = *fact.steps;
  size_t seen = 0;
  for (size_t i = at + 1; i < facts.size() && seen < kRecentLines; ++i) {
    if (facts[i]->rule != fact.rule || !facts[i]->steps) continue;
    ++seen;
    if (*facts[i]->steps > before) return *facts[i]->steps <= reached + 1;
    reached = std::max(reached, *facts[i]->steps);
  }
  return true;
}

// Returns where the new run begins, if its first sign is the profiler line at `at`. This is the
// first compilation of a known graph after the last line of the old run, else the place after the
// old run's summary, else that line.
size_t BeginOf(const Facts& facts, const Run& run, size_t at) {
  size_t after = at;
  while (after > 0 && facts[after - 1]->kind != DebugFact::kProfilerLine) --after;
  for (size_t i = after; i < at; ++i) {
    if (facts[i]->kind == DebugFact::kCompile && run.compiled.contains(facts[i]->hash)) return i;
  }
  for (size_t i = at; i > after; --i) {
    if (facts[i - 1]->kind == DebugFact::kFallback) return i;
  }
  return at;
}

}  // namespace

std::vector<int> SegmentsOf(const DebugLog& log) {
  std::vector<int> segments(log.facts.size(), 0);
  std::vector<std::vector<size_t>> by_origin(log.origins.size());
  for (size_t i = 0; i < log.facts.size(); ++i) by_origin[size_t(log.facts[i].origin)].push_back(i);
  for (const std::vector<size_t>& index : by_origin) {
    Facts facts;
    bool shows_executions = false;
    for (size_t i : index) {
      facts.push_back(&log.facts[i]);
      shows_executions |= log.facts[i].kind == DebugFact::kExecution;
    }
    int segment = 0;
    Run run;
    for (size_t i = 0; i < facts.size(); ++i) {
      size_t begin = i;
      bool anew = CompilesAnew(run, facts, i, shows_executions);
      if (!anew && CountsAnew(run, facts, i)) {
        anew = true;
        begin = BeginOf(facts, run, i);
      }
      if (anew) {
        ++segment;
        run = Run();
        for (size_t k = begin; k < i; ++k) {
          run.Add(*facts[k]);
          segments[index[k]] = segment;
        }
      }
      run.Add(*facts[i]);
      segments[index[i]] = segment;
    }
  }
  return segments;
}

}  // namespace xlaprof
