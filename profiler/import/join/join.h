// The parts of JoinSources (import.h), each of which is a pass over the small tables of a store.
#pragma once

#include <string>

#include "profiler/store/store.h"

namespace xlaprof {

// Divides files to which several runs were appended without a mark, if another file shows where the
// runs begin (join_runs.cc). Call it before the processes are given to runs.
absl::Status DivideRuns(Store& store);

// Drops the processes whose ids `which` selects, with their facts. `which` is SQL, such as "(1, 2)".
// Their graphs stay, as those of the run's first process, and so do their tracks (join.cc).
absl::Status DropProcesses(Store& store, const std::string& which);

// Drops what a second file shows of one session of a profiler (join_copies.cc).
absl::Status DropCopies(Store& store);

// Unites the processes of one run that several sources describe, and their compiles and executions.
// A log and a dump are joined by graph hash and order, then both with the XSpace by compile hashes,
// then by the kinds of the cuts (join_facts.cc).
absl::Status JoinFacts(Store& store);

// Adds steps to processes whose steps no clock shows, and sets step_id of every fact
// (join_steps.cc).
absl::Status JoinSteps(Store& store);

// Sets compile.dur_ns outside the XSpace's window, from the exact accumulator of CompileTime
// (join_costs.cc).
absl::Status JoinCosts(Store& store);

}  // namespace xlaprof
