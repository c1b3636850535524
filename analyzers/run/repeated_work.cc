#include "analyzers/run/repeated_work.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/graph/graph_content.h"
#include "analyzers/run/tables.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

constexpr PrintedForm kComparedForms[] = {PrintedForm::kIrText, PrintedForm::kIrDot,
                                          PrintedForm::kHlo, PrintedForm::kHloOptimized,
                                          PrintedForm::kStablehlo};

// Compares graphs by the content of their nodes. Loads each graph once.
class NodesInCommon {
 public:
  NodesInCommon(const Run& run, const Graphs& graphs) : run_(run), graphs_(graphs) {}

  // Returns the share of the first graph's nodes that the second one has, too; nothing if no form
  // of both was printed.
  absl::StatusOr<std::optional<double>> ShareOf(int64_t early, int64_t step) {
    const std::pair key(graphs_.IdentityOf(early).value_or(""),
                        graphs_.IdentityOf(step).value_or(""));
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    if (known_.size() >= kMostPairs) return std::optional<double>();
    std::optional<double>& share = known_[key];
    for (const PrintedForm form : kComparedForms) {
      XP_TRY(const std::vector<uint64_t>* of_early, NodesOf(early, form));
      XP_TRY(const std::vector<uint64_t>* of_step, NodesOf(step, form));
      if (of_early == nullptr || of_step == nullptr || of_early->empty()) continue;
      std::vector<uint64_t> both;
      std::ranges::set_intersection(*of_early, *of_step, std::back_inserter(both));
      share = double(both.size()) / double(of_early->size());
      break;
    }
    return share;
  }

 private:
  static constexpr size_t kMostPairs = 200;  // a program that always recompiles has more

  // Returns the sorted contents of a graph's nodes that compute something; null if it was not
  // printed in this form.
  absl::StatusOr<const std::vector<uint64_t>*> NodesOf(int64_t graph_id, PrintedForm form) {
    for (const GraphRow* row : graphs_.FormsOf(graph_id)) {
      if (row->printed_as != form || row->node_count.value_or(0) == 0) continue;
      const auto [loaded, is_new] = nodes_.try_emplace(row->id);
      if (is_new) {
        XP_TRY(const PrintedGraph graph, LoadGraph(run_.store(), row->id));
        for (const GraphNode& node : graph.nodes) {
          if (!IsInput(node) && !IsConstant(node)) loaded->second.push_back(ContentHash(node));
        }
        std::ranges::sort(loaded->second);
      }
      return &loaded->second;
    }
    return nullptr;
  }

  const Run& run_;
  const Graphs& graphs_;
  std::map<std::pair<std::string, std::string>, std::optional<double>> known_;
  std::map<int64_t, std::vector<uint64_t>> nodes_;
};

// Returns whether the step of `read` ended before that of `mark`, so nothing was left to execute at its
// end. Of the marks, only the end of a StepTrace is known to be in the step that it ends.
bool EndedBefore(const ExecutionRow& read, const ExecutionRow& mark) {
  return mark.cause == CutKind::kStepTraceExit && read.step_id && mark.step_id &&
         *read.step_id != *mark.step_id;
}

}  // namespace

std::optional<double> RepeatedWork::Of(int64_t execution_id) const {
  const auto found = share.find(execution_id);
  return found == share.end() ? std::nullopt : std::optional(found->second);
}

absl::StatusOr<RepeatedWork> RepeatedWork::Of(const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::map<int64_t, std::vector<const ExecutionRow*>> by_process;
  for (const ExecutionRow& row : executions->rows)
    by_process[row.process_id.value_or(0)].push_back(&row);
  RepeatedWork work;
  NodesInCommon nodes(run, *graphs);
  for (auto& [process_id, rows] : by_process) {
    std::ranges::stable_sort(rows, std::less<>(), &ExecutionRow::ordinal);
    std::vector<const ExecutionRow*> early;  // since the last step mark
    for (const ExecutionRow* row : rows) {
      if (row->cause == CutKind::kValueAccess && row->graph_id) early.push_back(row);
      if (!row->cause || !EndsStep(*row->cause) || !row->graph_id) continue;
      for (const ExecutionRow* read : early) {
        if (EndedBefore(*read, *row)) {
          work.share[read->id] = 0;
          continue;
        }
        XP_TRY(const std::optional<double> share, nodes.ShareOf(*read->graph_id, *row->graph_id));
        if (share) work.share[read->id] = *share;
      }
      early.clear();
    }
  }
  return work;
}

}  // namespace xlaprof
