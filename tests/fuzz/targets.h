// What is fuzzed: every importer of the registry by its name, and what else reads bytes or text
// from outside. The fuzzer (fuzz_main.cc) runs one of them; hostile_tests replays on them what was
// once found (regressions/NAME/).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

struct FuzzTarget {
  std::string name;
  // "" when all is well, else what is wrong. Without `reports` an importer is run alone, with what
  // follows it: reports cost more than reading.
  std::function<std::string(std::string_view bytes, bool reports)> run;
  // Small inputs to begin with, from the goldens.
  std::function<std::vector<std::string>()> seeds;
};

// SQL that fills a store with one row or more of each sort.
extern const std::string_view kSmallStoreSql;

// In a fixed order: importers first.
const std::vector<FuzzTarget>& FuzzTargets();
const FuzzTarget* FuzzTargetNamed(std::string_view name);

}  // namespace xlaprof
