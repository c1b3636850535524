// The compilations in torch's structured log, before they become rows.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/import/torch/graph_break.h"
#include "profiler/import/torch/guard_failure.h"
#include "profiler/import/torch/torchtpu_cuts.h"
#include "profiler/import/torch/trace_records.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Why a program did not fit, so that the function was compiled again.
struct TraceReason {
  GuardFailure failure;     // `before` and `after` are whole shapes if a graph shows them
  bool is_dynamic = false;  // the new program takes other values, too
  SourcePlace place;        // the user's line of the check, with its whole path
};

// Why a function could not be compiled.
struct TraceFailure {
  std::string error;  // name of the exception
  std::string text;   // its message
  SourcePlace place;  // the user's line that cannot be compiled; empty if none is named
};

struct TraceBreak {
  GraphBreak what;
  int64_t offset = 0, line = 0;
};

using TraceProgram = std::pair<int64_t, int64_t>;  // numbers of the function and of its program

// One program that torch.compile made of a function, or could not make.
struct TraceCompile {
  int64_t frame = 0;    // number of the function in its process
  int64_t program = 0;  // from 0; the function's number of this program
  int64_t offset = 0, line = 0;
  bool is_started = false;              // false: its begin is not in the log
  bool has_ended = false;               // false: the log does not tell whether it failed
  std::optional<TraceFailure> failure;  // set: it has no program afterwards
  OptInt limit;                         // set if it was reached: the number of programs
  Store::Frame function;
  std::vector<Store::Frame> callers;  // innermost first; the user's and libraries'
  OptInt start_epoch_ns;
  OptInt dur_ns;  // forward and backward
  // By CompilePhase. These do not overlap, and dur_ns is their sum.
  std::array<int64_t, std::size(Vocabulary<CompilePhase>::kWords)> phase_ns{};
  std::vector<TraceBreak> breaks;  // each place once
  std::vector<CacheAnswer> caches;
  std::vector<TraceReason> reasons;  // the most telling first; empty: it is no recompilation

  TraceProgram id() const { return {frame, program}; }
};

// An execution of a program's forward or backward graph, if the program asked for their order
// (torch._inductor.debug.record_and_log_graph_execution_order). It has no time. Torch knows the
// programs that it compiled since then.
struct TraceExecution {
  std::optional<TraceProgram> program;
  int64_t offset = 0, line = 0;  // of the record, which lists many
};

struct TraceCompiles {
  std::vector<TraceCompile> compiles;      // in the order in which they begin
  std::vector<TraceExecution> executions;  // in order
  int64_t records = 0;
  OptInt pid, rank;
  int64_t odd_lines = 0, first_odd_line = 0;           // lines that belong to no record
  int64_t odd_records = 0, first_odd_record_line = 0;  // records that are no JSON
  std::vector<TorchtpuCut> torchtpu_cuts;              // in order; they point into the log
  bool is_cut = false;                                 // it stops inside a line
};

// Reads all of `log`; `progress` gets the bytes done.
TraceCompiles ReadTraceCompiles(std::string_view log, const std::function<void(size_t)>& progress);

}  // namespace xlaprof
