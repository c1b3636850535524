// The tables whose rows belong to a process. Slices, the joining of sources and the choice of a run
// go through all of them; a new table with a process_id is added here alone.
#pragma once

namespace xlaprof {

struct ProcessTable {
  const char* name;
  // How its rows are chosen by --process, --steps, --from and --to; by who reads them, or alone.
  enum { kElsewhere, kByProcess, kByStep } sliced;
  // SQL for ns since the base epoch, of rows that a span of time may leave out; nullptr: none.
  const char* start_ns = nullptr;
  bool dies_with_run = true;  // its rows go with a run that was not chosen
  bool is_cited = true;       // by table provenance
};

// In the order in which rows of runs that were not chosen are dropped.
inline constexpr ProcessTable kProcessTables[] = {
    {.name = "compile", .sliced = ProcessTable::kByStep, .start_ns = "ts_ns"},
    {.name = "execution",
     .sliced = ProcessTable::kByStep,
     .start_ns = "coalesce(enqueue_ts_ns, ts_ns)"},
    {.name = "transfer", .sliced = ProcessTable::kByStep, .start_ns = "ts_ns"},
    {.name = "fallback", .sliced = ProcessTable::kByStep},
    {.name = "untied_weight", .sliced = ProcessTable::kByProcess},
    {.name = "profiler_line", .sliced = ProcessTable::kByProcess},
    {.name = "compile_alarm", .sliced = ProcessTable::kByProcess},
    {.name = "step", .sliced = ProcessTable::kElsewhere},
    {.name = "metrics_report", .sliced = ProcessTable::kByProcess, .is_cited = false},
    {.name = "setting", .sliced = ProcessTable::kByProcess, .is_cited = false},
    // A dump prints a graph only the first time, and facts of the run that stays may refer to it.
    {.name = "graph", .sliced = ProcessTable::kElsewhere, .dies_with_run = false},
    {.name = "track", .sliced = ProcessTable::kElsewhere, .dies_with_run = false},
    {.name = "recording", .sliced = ProcessTable::kElsewhere, .dies_with_run = false},
};

}  // namespace xlaprof
