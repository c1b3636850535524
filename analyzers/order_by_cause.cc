#include "analyzers/order_by_cause.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/device_gap.h"
#include "analyzers/kinds.h"
#include "analyzers/missing_step_mark.h"

namespace xlaprof {
namespace {

// Returns what orders findings of equal cost: the kind, the subject, then the title.
auto SubjectKey(const Finding& finding) {
  const Subject& s = finding.subject;
  return std::tuple(finding.kind(), s.file, s.line, s.function, s.scope, s.op, s.graph_hash,
                    std::string_view(finding.words.title));
}

// Each cost is time that the host spent on one of these. It compiles, is blocked, and runs ops without
// lowering at different times.
enum class SpentOn : uint8_t { kCompiling, kBlocked, kOnCpu };

// The costs of several findings. Findings of one kind never count the same time twice, but two kinds
// may: a missing step mark counts the compilations that it causes.
class Costs {
 public:
  void Add(const Finding& finding) {
    if (!finding.cost_ns) return;
    const auto* growth = std::any_cast<MissingStepMarkFigures>(&finding.figures);
    const auto* unmarked = growth ? std::get_if<UnmarkedExecutionsFigures>(growth) : nullptr;
    const int64_t compiling_ns = unmarked ? unmarked->compile_ns.value_or(0) : 0;
    if (compiling_ns > 0) ns_[SpentOn::kCompiling][finding.analyzer] += compiling_ns;
    ns_[SpentOnOf(finding)][finding.analyzer] += *finding.cost_ns - compiling_ns;
  }
  void Add(const Costs& other) {
    for (const auto& [spent_on, by_kind] : other.ns_) {
      for (const auto& [kind, ns] : by_kind) ns_[spent_on][kind] += ns;
    }
  }
  // Returns the time that all of them take, each part of it counted once.
  OptInt total_ns() const {
    if (ns_.empty()) return {};
    return Most(SpentOn::kCompiling) + Most(SpentOn::kBlocked) + Most(SpentOn::kOnCpu);
  }

 private:
  static SpentOn SpentOnOf(const Finding& finding) {
    if (IsGapOfFallbacks(finding)) return SpentOn::kOnCpu;
    return IsOf(finding, recompilation) || IsOf(finding, slow_compile) ? SpentOn::kCompiling
                                                                       : SpentOn::kBlocked;
  }
  // Returns the time of the kind that has most.
  int64_t Most(SpentOn spent_on) const {
    int64_t most_ns = 0;
    if (const auto at = ns_.find(spent_on); at != ns_.end()) {
      for (const auto& [kind, ns] : at->second) most_ns = std::max(most_ns, ns);
    }
    return most_ns;
  }

  std::map<SpentOn, std::map<const Analyzer*, int64_t>> ns_;
};

// A finding with everything that follows from it.
struct Tree {
  std::vector<size_t> children;
  Severity severity = Severity::kInfo;  // the most severe
  Costs costs;
  // Savings of what follows from it, as far as nothing else counts them.
  int64_t saved_ns = 0, least_saved_ns = 0, most_saved_ns = 0;
};

class Forest {
 public:
  Forest(const Findings& findings, const CauseLinks& links)
      : findings_(findings), trees_(findings.size()) {
    for (size_t i = 0; i < findings.size(); ++i) {
      if (links[i]) trees_[*links[i]].children.push_back(i);
    }
    for (size_t i = 0; i < findings.size(); ++i) {
      if (!links[i]) roots_.push_back(i), Sum(i, false);
    }
    Sort(roots_);
    for (Tree& tree : trees_) Sort(tree.children);
  }

  const std::vector<size_t>& roots() const { return roots_; }
  const Tree& Of(size_t finding) const { return trees_[finding]; }

 private:
  void Sum(size_t at, bool is_consequence) {
    Tree& tree = trees_[at];
    tree.severity = findings_[at].severity;
    // The copies of an op without lowering, or of a read, are part of its time. Idle time that follows
    // from something is the same time, seen from the device, except for that in which an op runs on
    // the CPU.
    const bool is_part_of_cause =
        is_consequence &&
        (IsOf(findings_[at], large_transfer) || IsOf(findings_[at], device_gap)) &&
        !IsGapOfFallbacks(findings_[at]);
    if (!is_part_of_cause) tree.costs.Add(findings_[at]);
    for (const size_t child : tree.children) {
      Sum(child, true);
      tree.severity = std::max(tree.severity, trees_[child].severity);
      tree.costs.Add(trees_[child].costs);
      AddSaving(child, tree);
    }
  }
  void AddSaving(size_t child, Tree& tree) const {
    const Finding& finding = findings_[child];
    tree.saved_ns += trees_[child].saved_ns;
    tree.least_saved_ns += trees_[child].least_saved_ns;
    tree.most_saved_ns += trees_[child].most_saved_ns;
    const bool is_own_time =
        IsOf(finding, recompilation) || IsOf(finding, slow_compile) || IsGapOfFallbacks(finding);
    if (!is_own_time || !finding.saving_interval_ns) return;
    tree.saved_ns += finding.saving_ns.value_or(0);
    tree.least_saved_ns += finding.saving_interval_ns->first;
    tree.most_saved_ns += finding.saving_interval_ns->second;
  }
  void Sort(std::vector<size_t>& indices) const {
    std::ranges::stable_sort(indices, [&](size_t a, size_t b) {
      const auto figures = [&](size_t i) {
        return std::tuple(trees_[i].severity == Severity::kInfo,
                          -trees_[i].costs.total_ns().value_or(-1), -int(trees_[i].severity),
                          -findings_[i].per_step.value_or(-1),
                          trees_[i].costs.total_ns() ? 0 : -findings_[i].count.value_or(-1));
      };
      if (figures(a) != figures(b)) return figures(a) < figures(b);
      return SubjectKey(findings_[a]) < SubjectKey(findings_[b]);
    });
  }

  const Findings& findings_;
  std::vector<Tree> trees_;
  std::vector<size_t> roots_;
};

// Appends a finding and what follows from it to `ordered`.
void Append(Findings& findings, const Forest& forest, size_t at, int depth,
            const std::string& because_of, Findings& ordered) {
  const Tree& tree = forest.Of(at);
  Finding& finding = findings[at];
  finding.because_of = because_of;
  finding.depth = depth;
  finding.severity = tree.severity;
  if (!tree.children.empty()) finding.total_cost_ns = tree.costs.total_ns();
  for (const size_t child : tree.children)
    finding.consequences.push_back(findings[child].fingerprint);
  const std::string fingerprint = finding.fingerprint;
  finding.consequent_saving_ns = tree.saved_ns;
  finding.total_saving_interval_ns = finding.saving_interval_ns;
  if (tree.saved_ns > 0) {
    const auto [low, high] = finding.saving_interval_ns.value_or(std::pair(int64_t{0}, int64_t{0}));
    finding.total_saving_interval_ns = {low + tree.least_saved_ns, high + tree.most_saved_ns};
  }
  ordered.push_back(std::move(finding));
  for (const size_t child : tree.children)
    Append(findings, forest, child, depth + 1, fingerprint, ordered);
}

}  // namespace

Findings OrderByCause(Findings findings, CauseLinks links) {
  const Forest forest(findings, links);
  // Fingerprints number findings of one function by line, so they do not depend on the order.
  SetFingerprints(findings);
  Findings ordered;
  for (const size_t root : forest.roots()) Append(findings, forest, root, 0, "", ordered);
  return ordered;
}

}  // namespace xlaprof
