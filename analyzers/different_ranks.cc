// Finds ranks of a job that do not execute what the others do. In a graph that exchanges data
// between ranks, each rank waits for all others, so all must execute the same graphs in the same
// order.
//
// Only recordings of our own runtime are judged. They begin with the program and show all of its
// executions, and their graphs show the exchanges. A profile shows a part of a run, and what XLA
// partitions exchanges data in ways that the program does not show.
//
// The processes that know their ranks are one job, and each other process is a job of its own,
// whose ranks are threads. If a rank was recorded twice, the recordings are of several jobs, and
// nothing tells which belong together.
#include "analyzers/different_ranks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/graph/graph_diff.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// One rank's executions in which all ranks exchange data, in order.
struct RankSequence {
  RankLabel label;
  bool has_ended = false;  // its recording is complete
  std::vector<const ExecutionRow*> executions;
};

// Returns whether all ranks exchange data in the operation. Those of a group need not do what other
// groups do.
bool ExchangesWithAll(const GraphNode& node) {
  const bool is_exchange = node.Is(OpKind::kCollective) && !node.Has(OpTrait::kInPairs);
  return is_exchange && (node.attributes.find("groups=") == std::string::npos ||
                         node.attributes.find("groups=()") != std::string::npos);
}

absl::StatusOr<bool> ExchangesWithAll(const Run& run, int64_t graph_id) {
  absl::StatusOr<PrintedGraph> graph = LoadGraph(run.store(), graph_id);
  if (absl::IsNotFound(graph.status())) return false;
  if (!graph.ok()) return graph.status();
  return std::ranges::any_of(graph->nodes,
                             [](const GraphNode& node) { return ExchangesWithAll(node); });
}

// The ranks of a job, in the order of their numbers.
using Job = std::vector<RankSequence>;

bool HasRankTwice(const Job& job) {
  std::set<std::pair<OptInt, std::string>> seen;
  return !std::ranges::all_of(job, [&](const RankSequence& rank) {
    return seen.emplace(rank.label.rank, rank.label.device).second;
  });
}

// Returns the jobs of the recorded processes.
absl::StatusOr<std::vector<Job>> JobsOf(const Run& run) {
  XP_TRY(const Recordings* recordings, run.Get<Recordings>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, bool> has_ended;  // by process
  for (const RecordingRow& recording : recordings->rows)
    has_ended[recording.process_id] = recording.ended;
  XP_TRY(const std::vector<ProcessRow> processes, run.Rows<ProcessRow>("ORDER BY id"));
  std::map<int64_t, OptInt> rank_of;
  for (const ProcessRow& process : processes) rank_of[process.id] = process.rank;
  std::map<int64_t, bool> exchanges;  // by graph
  std::map<std::pair<int64_t, std::string>, std::vector<const ExecutionRow*>> by_device;
  std::map<int64_t, std::set<std::string>> devices;  // by process
  for (const ExecutionRow& row : executions->rows) {
    if (!row.graph_id || !row.process_id || !has_ended.contains(*row.process_id)) continue;
    const auto [known, is_new] = exchanges.try_emplace(*row.graph_id, false);
    if (is_new) {
      XP_TRY(known->second, ExchangesWithAll(run, *row.graph_id));
    }
    if (!known->second) continue;
    by_device[{*row.process_id, row.device.value_or("")}].push_back(&row);
    devices[*row.process_id].insert(row.device.value_or(""));
  }
  std::map<OptInt, Job> jobs;  // by process, or nothing for processes that know their ranks
  for (auto& [key, rows] : by_device) {
    const auto& [process, device] = key;
    const OptInt rank = rank_of[process];
    std::ranges::stable_sort(rows, std::less<>(), &ExecutionRow::ordinal);
    jobs[rank ? OptInt() : process].push_back(
        {.label = {.rank = rank,
                   .device = devices[process].size() > 1 ? device : "",
                   .process_id = process},
         .has_ended = has_ended[process],
         .executions = std::move(rows)});
  }
  std::vector<Job> judged;
  for (auto& [process, job] : jobs) {
    if (job.size() < 2 || HasRankTwice(job)) continue;
    std::ranges::stable_sort(job, std::less<>(),
                             [](const RankSequence& one) { return one.label.rank; });
    judged.push_back(std::move(job));
  }
  return judged;
}

// Returns the identity that most of the values have, the first of several.
std::string MostFrequent(const std::vector<std::string>& values) {
  return *std::ranges::max_element(
      values, {}, [&](const std::string& value) { return std::ranges::count(values, value); });
}

absl::StatusOr<std::optional<RankDifference>> DifferenceOf(const Run& run,
                                                           const ExecutionRow& usual,
                                                           const ExecutionRow& other) {
  XP_TRY(const PrintedGraph before, LoadGraph(run.store(), *usual.graph_id));
  XP_TRY(const PrintedGraph after, LoadGraph(run.store(), *other.graph_id));
  const GraphDiff diff = Diff(before, after, NewStateIs::kImpossible);
  if (diff.origins.empty()) return std::nullopt;
  const GraphDifference& first = diff.origins.front();
  return RankDifference{
      .node = first.node, .is_input = first.is_input, .before = first.before, .after = first.after};
}

Evidence EvidenceOf(const ExecutionRow& row) {
  return {.table = "execution", .rows = {row.id}, .ts_ns = row.ts_ns, .dur_ns = row.dur_ns};
}

// Returns the first execution in which not all ranks execute the same graph, if there is one among
// those that all ranks have.
absl::StatusOr<std::optional<Finding>> OfGraphs(const Run& run, const Job& ranks,
                                                size_t common) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  for (size_t i = 0; i < common; ++i) {
    std::vector<std::string> executed;
    for (const RankSequence& rank : ranks)
      executed.push_back(graphs->IdentityOf(rank.executions[i]->graph_id).value_or(""));
    const std::string most = MostFrequent(executed);
    const auto other =
        std::ranges::find_if(executed, [&](const std::string& graph) { return graph != most; });
    if (other == executed.end()) continue;
    const RankSequence& of_other = ranks[size_t(other - executed.begin())];
    const RankSequence& of_most =
        ranks[size_t(std::ranges::find(executed, most) - executed.begin())];
    const ExecutionRow& row = *of_other.executions[i];
    DifferentRanksFigures figures{.equal = int64_t(i),
                                  .usual = of_most.label,
                                  .other = of_other.label,
                                  .usual_graph = most,
                                  .other_graph = *other,
                                  .usual_length = int64_t(of_most.executions.size())};
    XP_TRY(figures.difference, DifferenceOf(run, *of_most.executions[i], row));
    Finding finding{.needs_fixing = true,
                    .subject = sites->SubjectOf(row.site_id),
                    .count = int64_t(executed.size()) - std::ranges::count(executed, most),
                    .stops_program = true,
                    .reason = Reason{.type = ReasonType::kDifferentGraphs},
                    .evidence = {EvidenceOf(*of_most.executions[i]), EvidenceOf(row)}};
    if (figures.difference) {
      finding.reason->node = figures.difference->node;
      finding.reason->before = figures.difference->before;
      finding.reason->after = figures.difference->after;
    }
    finding.figures = std::move(figures);
    return finding;
  }
  return std::nullopt;
}

// Returns a finding if ranks whose recordings are complete ended after fewer executions than
// others.
absl::StatusOr<std::optional<Finding>> OfLengths(const Run& run, const Job& ranks,
                                                 size_t common) {
  XP_TRY(const Sites* sites, run.Get<Sites>());
  const auto length = [](const RankSequence& rank) { return rank.executions.size(); };
  const RankSequence& most = *std::ranges::max_element(ranks, {}, length);
  if (length(most) == common ||
      !std::ranges::all_of(ranks, [](const RankSequence& rank) { return rank.has_ended; }))
    return std::nullopt;
  const RankSequence& least = *std::ranges::min_element(ranks, {}, length);
  const ExecutionRow& waits = *most.executions[common];
  Finding finding{.needs_fixing = true,
                  .subject = sites->SubjectOf(waits.site_id),
                  .count = std::ranges::count_if(
                      ranks, [&](const RankSequence& rank) { return length(rank) == common; }),
                  .stops_program = true,
                  .reason = Reason{.type = ReasonType::kDifferentLengths},
                  .evidence = {EvidenceOf(waits)}};
  finding.figures = DifferentRanksFigures{.equal = int64_t(common),
                                          .usual = most.label,
                                          .other = least.label,
                                          .usual_length = int64_t(length(most))};
  return finding;
}

absl::StatusOr<Findings> FindDifferentRanks(const Run& run) {
  // A part of the run may have different executions of each rank.
  if (!run.slice().empty()) return Findings();
  XP_TRY(const std::vector<Job> jobs, JobsOf(run));
  Findings findings;
  for (const Job& ranks : jobs) {
    size_t common = ranks.front().executions.size();
    for (const RankSequence& rank : ranks) common = std::min(common, rank.executions.size());
    XP_TRY(std::optional<Finding> finding, OfGraphs(run, ranks, common));
    if (!finding) {
      XP_TRY(finding, OfLengths(run, ranks, common));
    }
    if (finding) findings.push_back(*std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer different_ranks{
    .name = "different_ranks",
    .summary = "ranks of a job that do not execute the same graphs as the others",
    .meaning =
        "All ranks of a job must execute the same graphs in the same order, as far as the graphs exchange data between the ranks. If one rank has another graph, or ends earlier, the others wait for it, and the job fails or hangs.",
    .looks_at =
        "executions in recordings of our lazy runtime, and whether their graphs exchange data",
    .find = FindDifferentRanks,
    .say = SayDifferentRanks,
    .needs = Needs::kLazyRuntime};

}  // namespace xlaprof
