// Orders the compiles of a run, and finds causes of recompiles without a known graph.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "analyzers/recompile/cause.h"
#include "analyzers/recompile/compile_sites.h"

namespace xlaprof {

// All compiles of each process, in order. The facts must outlive this object.
class CompileHistory {
 public:
  struct Compiled {
    int64_t ordinal;
    const CompileFact* fact;
    const CompileSite* site;
    size_t graph = 0;  // a dense number of its hash
  };

  CompileHistory() = default;
  explicit CompileHistory(const CompileSites& facts);

  // Returns what the process of `compile` had compiled before it: the latest few thousand compiles,
  // the oldest of them first.
  std::span<const Compiled> Before(const CompileFact& compile) const;
  // Returns why a graph was compiled although its process had compiled it before. Returns nothing
  // if the process had not.
  std::optional<RecompileCause> WhyCompiledAgain(const CompileFact& compile) const;

 private:
  struct Process {
    std::vector<Compiled> compiles;                                     // in order
    absl::flat_hash_map<std::string_view, std::vector<size_t>> places;  // indices, by hash
    size_t CountBefore(int64_t ordinal) const;
  };

  std::map<int64_t, Process> processes_;
};

// Returns the compile with which compile `index` (at least 1) of a site is compared if no graph is
// known: the latest one whose counts of inputs and results, and whose size of all inputs, are most
// equal.
const CompileFact& NearestByCounts(const CompileSite& site, size_t index);
// Returns the difference that the log's counts and sizes of the two programs show.
RecompileCause BySizes(const CompileFact& earlier, const CompileFact& compile);

}  // namespace xlaprof
