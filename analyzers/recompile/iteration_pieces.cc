#include "analyzers/recompile/iteration_pieces.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "analyzers/policy.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns whether the sequence repeats its distinct values in one order, often enough.
bool Cycles(const std::vector<int64_t>& sequence) {
  const size_t pieces = std::set<int64_t>(sequence.begin(), sequence.end()).size();
  if (pieces < 2 || sequence.size() < pieces * size_t(policy::kRoundsOfPieces)) return false;
  for (size_t i = pieces; i < sequence.size(); ++i) {
    if (sequence[i] != sequence[i - pieces]) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<IterationPieces> IterationPieces::Of(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, std::vector<const ExecutionRow*>> rows;  // by process
  for (const ExecutionRow& row : executions->rows) rows[row.process_id.value_or(0)].push_back(&row);
  IterationPieces pieces;
  for (auto& [process, of_process] : rows) {
    if (std::ranges::any_of(of_process, [](const auto* row) { return !row->graph_id.has_value(); }))
      continue;
    std::ranges::stable_sort(of_process, {}, &ExecutionRow::ordinal);
    std::vector<int64_t> graphs;
    for (const ExecutionRow* row : of_process) graphs.push_back(*row->graph_id);
    if (Cycles(graphs)) pieces.processes.insert(process);
  }
  return pieces;
}

}  // namespace xlaprof
