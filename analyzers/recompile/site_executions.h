// How often, and in which order, the programs of a site were executed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analyzers/recompile/cause_group.h"
#include "analyzers/recompile/compile_sites.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// Finds places whose programs take turns, as those of buckets do: it says of the executions at each
// place how many ran another program than the execution before.
class Turns {
 public:
  static absl::StatusOr<Turns> Of(const Run& run);

  // Returns whether the programs of a place take turns.
  bool AreTakenAt(const CompileSite& site) const;

 private:
  struct Place {
    int64_t executions = 0, others = 0;
    std::string last;
  };
  std::map<std::pair<int64_t, OptInt>, Place> places_;
};

// The number of executions by row of table graph, which is the same for rows with equal hashes.
// Graphs that were not executed are left out.
using GraphExecutions = std::map<int64_t, int64_t>;
absl::StatusOr<GraphExecutions> ExecutionsOfGraphs(const Run& run);

// Returns the processes of which many executions do not name their graph. How often their other graphs
// were executed is then not known either: only that it was at least so often.
absl::StatusOr<std::set<int64_t>> ProcessesWithUnknownGraphs(const Run& run);

// Sets other_executions of the group: executions of the graphs of its site that its causes do not
// compare, for example the first graph.
absl::Status CountOthers(const Run& run, RecompileGroup* group);

}  // namespace xlaprof
