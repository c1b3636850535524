// Chooses what changed when torch.compile compiled a function again. PyTorch lists the first check that
// failed of each earlier program, and most of them say only that these were compiled for something else.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "profiler/import/torch/guard_failure.h"

namespace xlaprof {

// The programs of one process.
class GuardHistory {
 public:
  using Program = std::pair<int64_t, int64_t>;  // numbers of the function and of its program

  // Notes what `failures` tell about the values that earlier programs of function `frame` need. All
  // failures of the process are noted before ValueOf is called.
  void Note(int64_t frame, const std::vector<GuardFailure>& failures);

  // Returns the failure that tells what changed before `program` was compiled; null if there are no
  // failures. `failures` are in PyTorch's order: the program that ran last comes first. Programs are
  // asked for in the order in which they were compiled.
  //
  // Each program fails at its first check, so a program that was itself compiled for another value of x
  // tells only that x is as it was before. The first program that differs in something else than it
  // was compiled for tells what changed. Among the programs that differ in it, the one that ran last
  // tells the value before.
  const GuardFailure* Choose(Program program, const std::vector<GuardFailure>& failures);

  // Returns the value that `program` needs of what `change` names, if a later failure of the program
  // says so; else "".
  std::string ValueOf(Program program, const GuardFailure& change) const;

 private:
  std::map<std::pair<Program, std::string>, std::string>
      values_;                                   // by program and key of a failure
  std::map<Program, std::string> compiled_for_;  // keys of what changed
};

}  // namespace xlaprof
