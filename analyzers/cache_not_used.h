// The finding cache_not_used: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of programs, and Finding::cost_ns the time that compiling them takes.
// Times are set only if a source has them.
struct CacheNotUsedFigures {
  struct Program {
    std::string name;
    int64_t dur_ns = 0;
  };
  std::vector<ProgramCache> caches;  // those that were asked
  std::optional<NotStored> why;  // why the programs are not kept; empty if a cache cannot keep such
  bool was_asked = true;         // false: the run uses no cache
  std::optional<int64_t> least_ns;  // compile time from which on the cache keeps programs
  std::vector<Program> longest;     // those that compile longest
  int64_t untimed = 0;              // programs without a time
  // Of the same programs, those that another run in these files loaded from the cache, the time to
  // compile and to load them.
  int64_t loaded = 0, loaded_compile_ns = 0, load_ns = 0;
  int64_t sought = 0, served = 0;  // all programs of the process, and those that a cache had
  std::optional<int64_t> served_saved_ns;  // what the cache saved in this process
  int64_t processes = 1;                   // the figures are those of the process with most
};

// Says which programs no cache of compiled programs keeps, why, and what that costs.
Words SayCacheNotUsed(const Finding& finding, Framework framework);

}  // namespace xlaprof
