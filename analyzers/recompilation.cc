// Finds what keeps compiling, and why. A finding is a site and a reason; a site's first compile is never counted.
//
// Several things may change at once. Each recompile lists all changes that would have been enough; the change that
// explains most of a site's recompiles takes those first, then the one that explains most of the rest, so that a change
// that came along once does not hide the one that comes each step.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/padding.h"
#include "analyzers/recompile_counts.h"
#include "analyzers/recompile_group.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxEvidence = 32;      // rows that a finding cites
constexpr int64_t kFewRecompiles = 2;    // so many that have stopped are no pattern
constexpr size_t kMaxBeside = 3;         // other changes that a reason names
constexpr double kRareShare = 0.2;       // executions of a size below this share: the last batch of an epoch

struct Explained {
  std::map<std::string, const RecompileCause*> by_key;  // the first cause of each key
  std::vector<std::string> order;                       // keys that may explain it, most telling first
};

// Divides a site's recompiles among as few reasons as explain them.
std::vector<RecompileGroup> Divide(const CompileSite& site, const StepsSeen& steps,
                                   const std::vector<CompileReason>& reasons, size_t first_index) {
  std::vector<Explained> explained(reasons.size());
  for (size_t i = 0; i < reasons.size(); ++i) {
    const bool only_follows = std::all_of(reasons[i].causes.begin(), reasons[i].causes.end(),
                                          [](const RecompileCause& cause) { return cause.follows; });
    for (const RecompileCause& cause : reasons[i].causes) {
      const std::string key = cause.Key();
      if (!explained[i].by_key.emplace(key, &cause).second) continue;
      if (!cause.follows || only_follows) explained[i].order.push_back(key);
    }
  }
  std::vector<bool> done(reasons.size(), false);
  std::vector<RecompileGroup> groups;
  for (size_t left = reasons.size(); left > 0;) {
    // Most compiles; then the place in the list of the first compile that it is in.
    std::map<std::string, std::tuple<int64_t, int64_t, int64_t>> score;
    for (size_t i = 0; i < reasons.size(); ++i) {
      if (done[i]) continue;
      for (size_t k = 0; k < explained[i].order.size(); ++k) {
        const std::string& key = explained[i].order[k];
        const auto at = score.try_emplace(key, 0, -static_cast<int64_t>(k), -static_cast<int64_t>(i)).first;
        ++std::get<0>(at->second);
      }
    }
    const auto best = std::max_element(score.begin(), score.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    RecompileGroup group{.site = &site, .steps = &steps};
    std::map<std::string, std::pair<size_t, std::string>> beside;
    for (size_t i = 0; i < reasons.size(); ++i) {
      const std::vector<std::string>& order = explained[i].order;
      if (done[i] || std::find(order.begin(), order.end(), best->first) == order.end()) continue;
      done[i] = true, --left;
      group.compiles.push_back(&site.compiles[first_index + i]);
      group.causes.push_back(*explained[i].by_key.at(best->first));
      for (const auto& [key, cause] : explained[i].by_key) {
        if (key == best->first) continue;
        auto& [times, text] = beside[key];
        ++times;
        text = cause->location.empty() ? cause->node : fmt::format("{} {} {}", cause->node, cause->near ? "near" : "at", cause->location.text());
      }
    }
    for (const auto& [key, entry] : beside) {
      if (entry.first == group.compiles.size() && group.beside.size() < kMaxBeside) group.beside.push_back(entry.second);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

std::string SourceOfTime(const std::string& dur_from) {
  if (dur_from == "metrics") return "the metrics' deltas";
  if (dur_from == "metrics_share") return "equal shares of the metrics' deltas";
  if (dur_from == "xspace") return "the XSpace";
  return dur_from.empty() ? "the capture" : dur_from;
}

void SetCost(const RecompileGroup& group, OptInt wall_ns, Finding* finding) {
  int64_t sum = 0;
  size_t measured = 0;
  std::map<std::string, int> sources;
  for (const CompileFact* compile : group.compiles) {
    if (!compile->dur_ns) continue;
    sum += *compile->dur_ns;
    ++measured;
    ++sources[SourceOfTime(compile->dur_from)];
  }
  if (measured == 0) {
    finding->cost_note = "unmeasured: no source that was read times these compiles; a profile or XLA_METRICS_FILE does";
    return;
  }
  finding->cost_ns = sum;
  std::string from;
  for (const auto& [name, times] : sources) from += (from.empty() ? "" : " and ") + name;
  finding->cost_note = fmt::format("compile time of {}, from {}",
                                   measured == group.compiles.size() ? "all of them" : fmt::format("{} of {} measured", measured, group.compiles.size()),
                                   from);
  if (wall_ns && *wall_ns > 0) {
    finding->cost_note += fmt::format("; {:.1f} % of the {:.1f} s that have a time", 100.0 * static_cast<double>(sum) / static_cast<double>(*wall_ns),
                                      static_cast<double>(*wall_ns) / 1e9);
  }
}

void SetSaving(const RecompileGroup& group, const std::optional<SizesSeen>& sizes, Finding* finding) {
  if (!finding->cost_ns || group.state.word == "warm_up") return;
  int64_t measured = 0;
  for (const CompileFact* compile : group.compiles) measured += compile->dur_ns.has_value();
  const std::string& type = group.causes.front().type;
  if (type == "shape_change" && sizes && sizes->dimension) {
    const int64_t mean = *finding->cost_ns / measured;
    const Padding buckets = PadToBuckets(sizes->sizes);
    const int64_t saved = static_cast<int64_t>(sizes->sizes.size()) - static_cast<int64_t>(buckets.buckets.size());
    if (saved <= 0) return;
    finding->saving_ns = std::min(saved, static_cast<int64_t>(group.compiles.size())) * mean;
    finding->saving_note = fmt::format("with the buckets {}: {} compiles fewer, at the mean of {:.0f} ms; the padded elements "
                                       "({:.0f} % more) cost device time that is not counted here", SizeList(buckets.buckets),
                                       saved, static_cast<double>(mean) / 1e6, 100 * buckets.extra_work);
    return;
  }
  if (type == "unknown" || type == "unprinted_change") return;
  finding->saving_ns = finding->cost_ns;
  finding->saving_note = "all of these compiles, if one program serves every step";
}

Severity SeverityOf(const RecompileGroup& group, OptInt cost_ns, OptInt wall_ns) {
  const RecompileState& state = group.state;
  if (state.word == "ongoing") {
    const bool most_of_the_time = cost_ns && wall_ns && 2 * *cost_ns > *wall_ns;
    return most_of_the_time ? Severity::kError : Severity::kWarning;
  }
  if (state.word == "burst") return Severity::kWarning;
  if (state.word == "settled") {
    const bool early = 4 * (*state.step - group.steps->first) < group.steps->count();
    return state.after_warm_up <= kFewRecompiles || early ? Severity::kInfo : Severity::kWarning;
  }
  if (state.word == "unknown") {
    return static_cast<int64_t>(group.compiles.size()) > kFewRecompiles ? Severity::kWarning : Severity::kInfo;
  }
  return Severity::kInfo;
}

Finding MakeFinding(RecompileGroup& group, OptInt wall_ns, const std::map<std::string, int64_t>& executions) {
  const CompileSite& site = *group.site;
  std::vector<int64_t> steps;
  for (const CompileFact* compile : group.compiles) steps.push_back(compile->step);
  std::sort(steps.begin(), steps.end());
  if (group.steps->known) {
    group.state = StateOf(steps, group.steps->first, group.steps->last);
  } else {
    group.state.word = "unknown";
  }

  const RecompileCause& cause = group.causes.front();
  const std::optional<SizesSeen> sizes = SizesOf(group);
  Finding finding{.kind = "recompilation", .title = RecompileTitle(group, sizes),
                  .count = static_cast<int64_t>(group.compiles.size())};
  SetCost(group, wall_ns, &finding);
  SetSaving(group, sizes, &finding);
  finding.severity = SeverityOf(group, finding.cost_ns, wall_ns);
  if (group.steps->count() > 0) {
    finding.per_step = static_cast<double>(group.compiles.size()) / static_cast<double>(group.steps->count());
  }

  auto text = [](const std::string& value) { return value.empty() ? std::nullopt : std::optional(value); };
  if (!cause.location.empty()) {
    finding.subject.file = cause.location.file;
    finding.subject.line = cause.location.line;
    finding.subject.function = text(cause.location.function);
  } else if (!site.file.empty()) {
    finding.subject.file = site.file;
    finding.subject.line = site.line;
    finding.subject.function = text(site.site_function);
  }
  if (!site.function.empty()) finding.subject.function = site.function;
  finding.subject.scope = text(cause.scope);
  finding.subject.op = text(cause.node);
  finding.subject.graph_hash = text(group.compiles.front()->hash);

  Reason reason{.type = cause.type, .state = group.state.word};
  if (group.state.step) {
    const auto number = group.steps->number.find(*group.state.step);
    reason.step = number != group.steps->number.end() ? number->second : *group.state.step;
  }
  reason.node = text(cause.node), reason.before = text(cause.before), reason.after = text(cause.after);
  if (!cause.location.empty()) reason.location = (cause.near ? "near " : "") + cause.location.text();
  reason.text = text(RecompileReasonText(group));
  finding.reason = std::move(reason);

  bool rare = false;
  if (sizes && sizes->sizes.size() == 2 && sizes->sizes[1] < sizes->sizes[0]) {
    int64_t all = 0, these = 0;
    for (const auto& [hash, times] : executions) all += times;
    for (const CompileFact* compile : group.compiles) {
      if (const auto at = executions.find(compile->hash); at != executions.end()) these += at->second;
    }
    rare = static_cast<double>(these) <= kRareShare * static_cast<double>(all);
  }
  finding.advice = RecompileAdvice(group, sizes, rare);

  Evidence evidence{.table = "compile"};
  for (const CompileFact* compile : group.compiles) {
    if (evidence.rows.size() < kMaxEvidence) evidence.rows.push_back(compile->id);
    if (!evidence.ts_ns && compile->ts_ns) evidence.ts_ns = compile->ts_ns, evidence.dur_ns = compile->dur_ns;
  }
  evidence.text = group.steps->known ? fmt::format("{} of {} compiles here; {} {} seen", group.compiles.size(), site.compiles.size(), group.steps->count(), group.steps->from)
                                     : fmt::format("{} of {} compiles here", group.compiles.size(), site.compiles.size());
  finding.evidence.push_back(std::move(evidence));
  return finding;
}

// Ranks of one job recompile together: one finding for all of them, the one of the process with most.
void MergeProcesses(std::vector<std::pair<int64_t, Finding>>* found) {
  std::map<std::string, std::pair<size_t, int>> first;  // what it is about -> place, processes
  std::vector<std::pair<int64_t, Finding>> merged;
  for (auto& [process_id, finding] : *found) {
    const std::string key = fmt::format("{}|{}|{}|{}|{}", finding.reason->type, finding.subject.file.value_or(""),
                                        finding.subject.line.value_or(0), finding.subject.function.value_or(""), finding.subject.op.value_or(""));
    const auto at = first.find(key);
    if (at == first.end() || merged[at->second.first].first == process_id) {
      first.try_emplace(key, merged.size(), 1);
      merged.emplace_back(process_id, std::move(finding));
      continue;
    }
    ++at->second.second;
    Finding& kept = merged[at->second.first].second;
    if (finding.count > kept.count) {
      for (Evidence& evidence : kept.evidence) finding.evidence.push_back(std::move(evidence));
      kept = std::move(finding);
    } else {
      for (Evidence& evidence : finding.evidence) kept.evidence.push_back(std::move(evidence));
    }
  }
  for (const auto& [key, entry] : first) {
    if (entry.second > 1) merged[entry.first].second.title += fmt::format(" (in each of {} processes)", entry.second);
  }
  *found = std::move(merged);
}

absl::StatusOr<Findings> Run(const Store& store) {
  XP_TRY(const RecompileFacts facts, LoadRecompileFacts(store));
  XP_TRY(ReasonFinder finder, ReasonFinder::Make(store, facts));
  std::map<int64_t, std::map<std::string, int64_t>> executions;
  XP_TRY(store.Each("SELECT coalesce(e.process_id, 0), coalesce(g.hash, ''), count(*) FROM execution e LEFT JOIN graph g ON "
                    "g.id = e.graph_id GROUP BY 1, 2 ORDER BY 1, 2",
                    [&](int64_t process_id, std::string hash, int64_t times) { executions[process_id][hash] = times; }));
  std::vector<std::pair<int64_t, Finding>> found;
  for (const CompileSite& site : facts.sites) {
    const StepsSeen& steps = facts.steps.at(site.process_id);
    const OptInt wall_ns = facts.wall_ns.at(site.process_id);
    std::vector<CompileReason> reasons;
    XP_TRY(std::optional<RecompileCause> other_cut, finder.OtherCut(site));
    const size_t first_index = other_cut ? 0 : 1;
    if (other_cut) reasons.push_back({.causes = {std::move(*other_cut)}, .nearest = 0});
    for (size_t i = 1; i < site.compiles.size(); ++i) {
      XP_TRY(CompileReason reason, finder.Why(site, i));
      reasons.push_back(std::move(reason));
    }
    for (RecompileGroup& group : Divide(site, steps, reasons, first_index)) {
      found.emplace_back(site.process_id, MakeFinding(group, wall_ns, executions[site.process_id]));
    }
  }
  MergeProcesses(&found);
  Findings findings;
  for (auto& [process_id, finding] : found) findings.push_back(std::move(finding));
  XP_TRY(Findings counted, FromCountsAlone(store));
  for (Finding& finding : counted) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Analyzer recompilation{"recompilation", "places that keep compiling, and what changed in their graphs",
                                    "compiles, printed graphs, debug blocks, metrics", Run};
}  // namespace xlaprof
