// The compiles of a run in their order, and what can be told of them where no graph is known.
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

// All compiles of each process, in order. The facts must outlive it.
class CompileHistory {
 public:
  struct Compiled {
    int64_t ordinal;
    const CompileFact* fact;
    const CompileSite* site;
    size_t graph = 0;  // a dense number of its hash
  };

  CompileHistory() = default;
  explicit CompileHistory(const RecompileFacts& facts);

  // What its process compiled before `compile`: the latest some thousands, the oldest first.
  std::span<const Compiled> Before(const CompileFact& compile) const;
  // Why a graph was compiled that its process had compiled before; empty: it had not.
  std::optional<RecompileCause> Eviction(const CompileFact& compile) const;

 private:
  struct Process {
    std::vector<Compiled> compiles;                                     // in order
    absl::flat_hash_map<std::string_view, std::vector<size_t>> places;  // in there, by hash
    // How many of them come before `ordinal`.
    size_t Before(int64_t ordinal) const;
  };

  std::map<int64_t, Process> processes_;
};

// What to compare compile `index` (at least 1) of a site with when no graph says: the latest with
// the same counts and sizes as far as possible.
const CompileFact& NearestBySizes(const CompileSite& site, size_t index);
// What differs, by what the log says of the programs.
RecompileCause BySizes(const CompileFact& earlier, const CompileFact& compile);

}  // namespace xlaprof
