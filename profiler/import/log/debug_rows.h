// Writes the rows of a PT_XLA_DEBUG log's facts.
#pragma once

#include <map>
#include <span>

#include "profiler/import/importer.h"
#include "profiler/import/torch_xla/debug_blocks.h"

namespace xlaprof {

// Writes the facts of one log, run after run. The log must outlive this object. An `origin` is the
// index of the process that wrote a line.
class DebugWriter {
 public:
  DebugWriter(const DebugLog& log, ImportContext& context) : log_(log), context_(context) {}

  absl::Status WriteIssues();
  // Writes the facts of one run, in order. `run_of_fact[i]` is the run of fact i (SegmentsOf).
  absl::Status WriteRun(std::span<const int> run_of_fact, int run);

 private:
  struct Process {
    int64_t id = 0, next_ordinal = 0;
    std::map<std::string, int64_t> graphs;
  };
  struct Stack {
    OptInt id, site_id;
  };

  absl::StatusOr<Process*> ProcessOf(int origin);
  absl::StatusOr<Stack> StackOf(int index);
  absl::StatusOr<OptInt> GraphOf(Process& process, const DebugFact& fact);
  absl::Status WriteFact(const DebugFact& fact);

  const DebugLog& log_;
  ImportContext& context_;
  std::map<int, Process> processes_;  // processes of this run, by origin
  std::map<int, Stack> stacks_;
  int64_t next_profiler_line_ = 0;
};

}  // namespace xlaprof
