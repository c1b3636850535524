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

// The graphs that one place executes in one step, in order.
using Sequence = std::vector<std::string>;

bool AreDifferent(const Sequence& graphs) {
  return std::set<std::string>(graphs.begin(), graphs.end()).size() == graphs.size();
}

// Adds the graphs of the sequence that a place executes in nearly all of its steps.
void AddUsualPieces(const std::map<int64_t, Sequence>& by_step, std::set<std::string>& graphs) {
  std::map<Sequence, int64_t> count;
  for (const auto& [step, sequence] : by_step) ++count[sequence];
  const auto usual = std::ranges::max_element(count, {}, [](const auto& of) { return of.second; });
  const auto& [sequence, steps] = *usual;
  if (sequence.size() >= 2 && steps >= policy::kRoundsOfPieces && AreDifferent(sequence) &&
      double(steps) >= policy::kStepsWithPieces * double(by_step.size()))
    graphs.insert(sequence.begin(), sequence.end());
}

}  // namespace

bool IterationPieces::Contain(int64_t process_id, const std::string& hash) const {
  const auto of_process = graphs.find(process_id);
  return of_process != graphs.end() && of_process->second.contains(hash);
}

absl::StatusOr<IterationPieces> IterationPieces::Of(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* known_graphs, run.Get<Graphs>());
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
    std::map<std::pair<std::optional<CutKind>, OptInt>, std::map<int64_t, Sequence>> places;
    for (const ExecutionRow* row : of_process) {
      if (row->step_id)
        places[{row->cause, row->site_id}][*row->step_id].push_back(
            known_graphs->HashOf(row->graph_id).value_or(""));
    }
    for (const auto& [place, by_step] : places) AddUsualPieces(by_step, pieces.graphs[process]);
    pieces.graphs[process].erase("");
  }
  return pieces;
}

}  // namespace xlaprof
