// Orders findings as a report shows them. No time is counted twice in their total cost.
#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzers/analyzer.h"
#include "analyzers/causes.h"

namespace xlaprof {
namespace {

// Returns what orders findings of equal cost: the kind, the subject, then the title.
auto SubjectKey(const Finding& finding) {
  const Subject& s = finding.subject;
  return std::tuple(finding.kind(), s.file, s.line, s.function, s.scope, s.op, s.graph_hash,
                    std::string_view(finding.words.title));
}

SpentOn SpentOnOf(const Finding& finding) {
  return finding.spent_on.value_or(finding.analyzer->spent_on);
}

// Returns whether the cost of a consequence is a part of its cause's time.
bool IsPartOfCause(SpentOn spent_on) {
  return spent_on == SpentOn::kCopying || spent_on == SpentOn::kDeviceIdle;
}

// The costs of several findings. Findings of one kind never count the same time twice, but two kinds
// may: a missing step mark counts the compilations that it causes.
class Costs {
 public:
  void Add(const Finding& finding) {
    if (!finding.cost_ns) return;
    ns_[SpentOn::kCompiling][finding.analyzer] += finding.compiling_ns;
    const SpentOn spent_on = SpentOnOf(finding);
    ns_[IsPartOfCause(spent_on) ? SpentOn::kBlocked : spent_on][finding.analyzer] +=
        *finding.cost_ns - finding.compiling_ns;
  }
  void Add(const Costs& other) {
    for (const auto& [spent_on, by_kind] : other.ns_) {
      for (const auto& [kind, ns] : by_kind) ns_[spent_on][kind] += ns;
    }
  }
  // Returns the time that all of them take, each part of it counted once.
  OptInt total_ns() const {
    if (ns_.empty()) return {};
    int64_t total_ns = 0;
    for (const auto& [spent_on, by_kind] : ns_) {
      int64_t most_ns = 0;
      for (const auto& [kind, ns] : by_kind) most_ns = std::max(most_ns, ns);
      total_ns += most_ns;
    }
    return total_ns;
  }

 private:
  std::map<SpentOn, std::map<const Analyzer*, int64_t>> ns_;
};

// A finding with everything that follows from it.
struct Tree {
  std::vector<size_t> children;
  Severity severity = Severity::kInfo;  // the most severe
  bool stops_program = false;           // one of them does
  Costs costs;
  // Savings of what follows from it that are not part of the finding's own saving.
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
      if (!links[i]) roots_.push_back(i), FillTree(i, false);
    }
    Sort(roots_);
    for (Tree& tree : trees_) Sort(tree.children);
  }

  const std::vector<size_t>& roots() const { return roots_; }
  const Tree& Of(size_t finding) const { return trees_[finding]; }

 private:
  void FillTree(size_t at, bool is_consequence) {
    Tree& tree = trees_[at];
    tree.severity = findings_[at].severity;
    tree.stops_program = findings_[at].stops_program;
    if (!is_consequence || !IsPartOfCause(SpentOnOf(findings_[at]))) tree.costs.Add(findings_[at]);
    for (const size_t child : tree.children) {
      FillTree(child, true);
      tree.severity = std::max(tree.severity, trees_[child].severity);
      tree.stops_program = tree.stops_program || trees_[child].stops_program;
      tree.costs.Add(trees_[child].costs);
      AddSaving(child, tree);
    }
  }
  void AddSaving(size_t child, Tree& tree) const {
    const Finding& finding = findings_[child];
    tree.saved_ns += trees_[child].saved_ns;
    tree.least_saved_ns += trees_[child].least_saved_ns;
    tree.most_saved_ns += trees_[child].most_saved_ns;
    const SpentOn spent_on = SpentOnOf(finding);
    const bool is_own_time = spent_on == SpentOn::kCompiling || spent_on == SpentOn::kOnCpu;
    if (!is_own_time || !finding.saving_interval_ns) return;
    tree.saved_ns += finding.saving_ns.value_or(0);
    tree.least_saved_ns += finding.saving_interval_ns->first;
    tree.most_saved_ns += finding.saving_interval_ns->second;
  }
  void Sort(std::vector<size_t>& indices) const {
    std::ranges::stable_sort(indices, [&](size_t a, size_t b) {
      const auto figures = [&](size_t i) {  // unknown values sort last
        return std::tuple(trees_[i].severity == Severity::kInfo, !trees_[i].stops_program,
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

Findings OrderByCause(Findings findings, const CauseLinks& links) {
  const Forest forest(findings, links);
  // Fingerprints number findings of one function by line, so they do not depend on the order.
  SetFingerprints(findings);
  Findings ordered;
  for (const size_t root : forest.roots()) Append(findings, forest, root, 0, "", ordered);
  return ordered;
}

}  // namespace xlaprof
