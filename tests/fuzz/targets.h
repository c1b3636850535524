// The targets that are fuzzed: every importer of the registry by its name, and all other code that
// reads bytes or text from outside. The fuzzer (fuzz_main.cc) runs one of them. hostile_tests
// replays earlier finds on them (regressions/NAME/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

struct FuzzTarget {
  std::string name;
  // Returns "" if all is well, otherwise what is wrong. Without `reports`, only an importer and the
  // steps after it are run, because reports cost more than reading.
  std::function<std::string(std::string_view bytes, bool reports)> run;
  // Returns small inputs to begin with, taken from the goldens.
  std::function<std::vector<std::string>()> seeds;
};

// SQL that fills a store with one row or more of each kind.
extern const std::string_view kSmallStoreSql;

// Returns the targets in a fixed order: importers first.
const std::vector<FuzzTarget>& FuzzTargets();
const FuzzTarget* FuzzTargetNamed(std::string_view name);

}  // namespace xlaprof
