// The words of different_ranks, which are the same for each framework.
#include "analyzers/different_ranks.h"

#include <fmt/format.h>

#include <any>

#include "analyzers/quantity.h"

namespace xlaprof {
namespace {

// Returns "rank 1", "CPU:1", or "process 3" if the rank is not known.
std::string Text(const RankLabel& label) {
  if (label.rank) {
    return fmt::format("rank {}{}", *label.rank, label.device.empty() ? "" : " on " + label.device);
  }
  return label.device.empty() ? fmt::format("process {}", label.process_id) : label.device;
}

// Returns "input f32[16,8] is f32[3,8] on rank 1", or "" if the graphs print alike.
std::string Text(const RankDifference& difference, const std::string& usual,
                 const std::string& other) {
  if (difference.node.empty()) return "";
  const std::string what = difference.is_input ? "an input" : difference.node;
  if (difference.before.empty())
    return fmt::format("only {} has {} {}", other, what, difference.after);
  if (difference.after.empty())
    return fmt::format("only {} has {} {}", usual, what, difference.before);
  return fmt::format("{} is {} on {} and {} on {}", what, difference.before, usual,
                     difference.after, other);
}

std::string OthersText(int64_t differ, const std::string& other) {
  return differ == 1 ? other : fmt::format("{} and {}", other, Plural(differ - 1, "other rank"));
}

Words OfGraphs(const DifferentRanksFigures& figures, int64_t differ) {
  const std::string usual = Text(figures.usual), other = Text(figures.other);
  const std::string difference = figures.difference ? Text(*figures.difference, usual, other) : "";
  Words words{
      .title = fmt::format(
          "{} executed a different graph from {} after {}{}", OthersText(differ, other), usual,
          Plural(figures.equal, "identical execution"), difference.empty() ? "" : ": " + difference),
      .why = fmt::format(
          "All ranks exchange data in both graphs (graph {} on {}, graph {} on {}), so each waits for the others and none can go on. The job fails or hangs.",
          figures.usual_graph, usual, figures.other_graph, other),
      .cost_note = "not measured; no rank can go on after it",
      .advice =
          "Give all ranks batches of the same size: pad the last one, or drop it. Let all ranks call item() and mark steps at the same places."};
  words.evidence = {fmt::format("execution {} on {}", figures.equal + 1, usual),
                    fmt::format("execution {} on {}", figures.equal + 1, other)};
  return words;
}

Words OfLengths(const DifferentRanksFigures& figures, int64_t differ) {
  const std::string usual = Text(figures.usual), other = Text(figures.other);
  return {
      .title = fmt::format("{} ended after {} that exchange data, but {} began {}",
                           OthersText(differ, other), Plural(figures.equal, "execution"), usual,
                           CountText(figures.usual_length)),
      .why =
          "Each of these executions waits for all ranks, so the ranks that went on waited for one that had ended. The job fails or hangs.",
      .cost_note = "not measured; no rank can go on after it",
      .advice =
          "Let all ranks run the same number of steps, for example by dropping batches that not every rank has.",
      .evidence = {fmt::format("execution {} on {}", figures.equal + 1, usual)}};
}

}  // namespace

Words SayDifferentRanks(const Finding& finding, Framework) {
  const auto& figures = std::any_cast<const DifferentRanksFigures&>(finding.figures);
  const int64_t differ = finding.count.value_or(1);
  return finding.reason->type == ReasonType::kDifferentGraphs ? OfGraphs(figures, differ)
                                                              : OfLengths(figures, differ);
}

}  // namespace xlaprof
