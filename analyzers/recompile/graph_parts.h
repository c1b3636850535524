// Knows the runtimes that divide what waits to run into several graphs, without saying which line
// asked for it. One change of the program, such as another batch size, then compiles several graphs.
#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "analyzers/recompile/cause_group.h"
#include "analyzers/recompile/compile_sites.h"
#include "base/status.h"

namespace xlaprof {

// Distinguishes the parts: they begin with the same operation at the same line in each step. If
// several of one step do, all of their operations distinguish them.
class GraphParts {
 public:
  static absl::StatusOr<GraphParts> Of(const Run& run, const std::vector<CompileFact>& compiles);
  // Returns a text that is equal for compiles of the same part; "" for compiles of other graphs.
  std::string KeyOf(const CompileFact& compile) const;

 private:
  struct Part {
    std::string begin, ops;
  };
  using Place = std::tuple<int64_t, CutKind, std::string>;  // process, and begin of the part

  std::map<int64_t, Part> by_compile_;
  std::set<Place> several_;
};

// Returns whether a compile is of such a part, or of a graph that a runtime looked up without saying
// why.
bool IsPart(const CompileFact& compile);

// Returns the name of a part for readers: "" if its operations are known, which say more.
std::string PartName(const CompileFact& compile);

// Returns whether a compile of a part may be of another call. A line runs an operation for several
// layers, and a library's code does so in all of them, so only what a later step than that of the
// site's first compile compiles is certain to be new.
bool MayBeOtherCall(const CompileSite& site, const CompileFact& compile, const StepsSeen& steps);

// Unites groups whose inputs change between the same sizes, in parts of the same process. The group
// that compiles first stays, with the compiles and the places of the others.
void UniteParts(std::vector<RecompileGroup>* groups);

}  // namespace xlaprof
