// Finds sites that keep compiling, and the reasons. There is one finding per site and reason. A
// site's first compile is not counted, unless a source shows that it was not the first.
#include "analyzers/recompilation.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/recompile/call_places.h"
#include "analyzers/recompile/cause_group.h"
#include "analyzers/recompile/dynamo.h"
#include "analyzers/recompile/graph_parts.h"
#include "analyzers/recompile/growing_inputs.h"
#include "analyzers/recompile/iteration_pieces.h"
#include "analyzers/recompile/judgement.h"
#include "analyzers/recompile/site_executions.h"
#include "analyzers/run/partial_compiles.h"
#include "analyzers/run/program_executions.h"
#include "analyzers/run/ranks.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/unmarked_reads.h"
#include "analyzers/run/uploads.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxCompileRows = 32;  // rows that a finding cites
constexpr size_t kMaxPlaces = 4;        // callers of one function that are named

// Returns the cost of a group's compiles. `wall_ns` is the time of the process; `is_observed` means that
// it is all of it, so that each compile is inside.
RecompileCost CostOf(const RecompileGroup& group, const FirstExecutions& executions, OptInt wall_ns,
                     bool is_observed) {
  RecompileCost cost;
  int64_t in_profile_ns = 0, all_ns = 0;
  std::map<CompilePhase, int64_t> phases;
  for (const CompileFact* compile : group.compiles) {
    cost.trace_ns += compile->trace_ns.value_or(0);
    cost.loaded += compile->is_loaded();
    cost.loaded_ns += compile->load_ns().value_or(0);
    if (!compile->dur_ns) continue;
    for (const auto& [phase, ns] : compile->phases_ns) phases[phase] += ns;
    // Tracing comes right before the compilation, so it is inside the profile, too. A compile that is
    // drawn is inside it, even if a log tells its length.
    if (compile->ts_ns && (compile->dur_from != TimeSource::kLog || compile->track_id)) {
      in_profile_ns += compile->compiling_ns(), ++cost.in_profile;
      cost.first_executions_ns +=
          executions.ExtraNs(compile->graph_id, *compile->ts_ns).value_or(0);
    }
    all_ns += compile->compiling_ns();
    ++cost.timed;
    cost.sources.insert(compile->dur_from);
  }
  cost.phases_ns.assign(phases.begin(), phases.end());
  cost.first_executions_ns = std::max<int64_t>(0, cost.first_executions_ns);
  in_profile_ns += cost.first_executions_ns;
  all_ns += cost.first_executions_ns;
  if (!wall_ns || *wall_ns <= 0) return cost;
  // Threads that compile at the same time may take longer than the process.
  cost.is_of_process = is_observed && all_ns > 0 && all_ns <= *wall_ns;
  if (cost.is_of_process || in_profile_ns != 0) {
    cost.profile_ns = wall_ns;
    cost.profile_share = double(cost.is_of_process ? all_ns : in_profile_ns) / double(*wall_ns);
  }
  if (in_profile_ns != 0) cost.measured_share = double(in_profile_ns) / double(*wall_ns);
  return cost;
}

OptInt CostNs(const RecompileGroup& group, const RecompileCost& cost) {
  if (cost.timed == 0 && cost.trace_ns <= 0) return {};
  int64_t sum = std::max<int64_t>(0, cost.trace_ns) + cost.first_executions_ns;
  for (const CompileFact* compile : group.compiles) sum += compile->dur_ns.value_or(0);
  return sum;
}

PaddingChoice PaddingOf(const SizesSeen& sizes) {
  PaddingChoice padding{.largest = PadToLargest(sizes.sizes, sizes.times),
                        .buckets = PadToBuckets(sizes.sizes, sizes.times)};
  padding.saved = static_cast<int64_t>(sizes.sizes.size()) -
                  static_cast<int64_t>(padding.buckets.buckets.size());
  return padding;
}

// Returns whether a fix for this reason saves all recompiles, because one program then serves every
// step.
bool OneProgramServes(ReasonType type) {
  return type != ReasonType::kUnknown && type != ReasonType::kUnprintedChange &&
         type != ReasonType::kNoStepMark;
}

// Sets the compiles and the time that a fix saves. Loading a program from the persistent cache is
// not counted, because the next run finds all programs there; tracing and lowering are paid again.
// Nothing is said of compiles in `unlike_others`, whose time is not known.
void SetSaving(const RecompileGroup& group, const std::set<int64_t>& unlike_others,
               Finding* finding, RecompileFigures* figures) {
  const bool is_clean_start = group.state.word == State::kWarmUp && !group.cause().is_weak_type();
  if (!finding->cost_ns || is_clean_start || IsNewState(group)) return;
  if (std::ranges::any_of(group.compiles, [&](const CompileFact* compile) {
        return unlike_others.contains(compile->id);
      }))
    return;
  const int64_t avoidable_ns = *finding->cost_ns - figures->cost.loaded_ns;
  if (avoidable_ns <= 0) return;
  if (figures->padding) {
    PaddingChoice& padding = *figures->padding;
    if (padding.saved <= 0) return;
    const int64_t measured = std::ranges::count_if(group.compiles, [](const CompileFact* compile) {
      return compile->dur_ns || compile->trace_ns;
    });
    padding.compile_ns = avoidable_ns / measured;
    finding->saving_ns =
        std::min(padding.saved, static_cast<int64_t>(group.compiles.size())) * padding.compile_ns;
    figures->saving = RecompileSaving::kByPadding;
  } else if (OneProgramServes(group.cause().type) && !group.cause().compares_text()) {
    finding->saving_ns = avoidable_ns;
    figures->saving = RecompileSaving::kAll;
  }
}

// Removes the causes that follow from the missing step mark, which has its own finding. Without a
// mark, each graph holds the ops of one more step. Other causes stay.
void ReplaceGrowth(const UnmarkedReads& unmarked, CompileReason* reason) {
  std::erase_if(reason->causes, [](const RecompileCause& cause) {
    return cause.type == ReasonType::kOpChange || cause.type == ReasonType::kLoopCountChange ||
           cause.type == ReasonType::kLiveTensorsChange || cause.type == ReasonType::kUnknown;
  });
  if (!reason->causes.empty()) return;
  reason->causes.push_back(
      {.type = ReasonType::kNoStepMark,
       .note = note::GrowsWithoutStepMark{.first_nodes = *unmarked.first_nodes(),
                                          .last_nodes = *unmarked.last_nodes()}});
}

using Places = std::vector<std::pair<SourcePlace, int64_t>>;  // each with its number of compiles

// Counts a compile at a line.
void CountAt(const SourcePlace& place, Places& places) {
  const auto known = std::ranges::find_if(places, [&](const auto& one) {
    return one.first.file == place.file && one.first.line == place.line;
  });
  if (known != places.end()) {
    ++known->second;
  } else {
    places.emplace_back(place, 1);
  }
}

// Returns the lines that caused the compiles of a group, those with most compiles first. A function
// may be called from several lines, but its site only has the line of the first call.
Places PlacesOf(const RecompileGroup& group, const CompileSites& facts) {
  Places places;
  for (const CompileFact* compile : group.compiles) {
    if (!compile->site_id) continue;
    const auto at = facts.places.find(*compile->site_id);
    if (at == facts.places.end() || at->second.file.empty()) continue;
    CountAt(at->second, places);
  }
  std::ranges::stable_sort(places, std::greater(), &Places::value_type::second);
  const CompileSite& site = *group.site;
  if (places.empty() && !site.place.empty()) places.emplace_back(site.place, 0);
  return places;
}

// Limits the length of a value, which may be a page of text.
std::string Bounded(std::string text) {
  constexpr size_t kMostBytes = 1000;
  if (text.size() <= kMostBytes) return text;
  size_t end = kMostBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// Forgets the state of a group whose compiles come from files that lack their end, because nobody knows
// whether more of them followed. That it still compiled where such a file ends is known.
void ForgetUnknownEnd(const RecompileGroup& group, const CutCompiles& cut, Reason& reason) {
  const bool is_cut = std::ranges::all_of(
      group.compiles, [&](const CompileFact* compile) { return cut.ids.contains(compile->id); });
  if (!is_cut || reason.state == State::kOngoing) return;
  reason.state = State::kUnknown;
  reason.step.reset();
}

// Returns whether one dimension varies, and each new size is larger than the one before by the same
// amount, as that of a cache to which each step appends.
bool GrowsSteadily(const SizesSeen& seen) {
  const std::vector<Sizes>& sizes = seen.sizes;
  if (seen.dimensions.size() != 1 || int64_t(sizes.size()) < policy::kGrowingSizes) return false;
  const int64_t step = sizes[1][0] - sizes[0][0];
  for (size_t i = 1; i < sizes.size(); ++i)
    if (sizes[i][0] - sizes[i - 1][0] != step) return false;
  return step > 0;
}

// Returns whether sizes came again, of an input that no graph makes. Nothing appends to such an
// input: its sizes only first came in ascending order.
bool IsUploadedAgain(const RecompileFigures& figures) {
  return figures.cause.may_be_result == false && figures.sizes->came_again;
}

// Returns the lines of the scalars whose values made the compiles, those with most compiles first;
// nothing if it is one line.
Places PlacesOfScalars(const RecompileGroup& group) {
  Places places;
  if (!group.cause().is_scalar_value()) return places;
  for (const RecompileCause& cause : group.causes) {
    if (!cause.location.empty()) CountAt(cause.location, places);
  }
  std::ranges::stable_sort(places, std::greater(), &Places::value_type::second);
  return places.size() > 1 ? places : Places();
}

RecompileFigures FiguresOf(const RecompileGroup& group, const FirstExecutions& first_executions,
                           const CompileSites& facts,
                           const std::map<std::string, int64_t>& executions) {
  const CompileSite& site = *group.site;
  RecompileFigures figures{.site = {.function = group.parts > 1 ? "" : site.function,
                                    .cut = site.cause,
                                    .place = site.place,
                                    .library = site.library,
                                    .step_name = group.steps->name},
                           .cause = group.cause(),
                           .values = ValuesOf(group),
                           .sizes = SizesOf(group),
                           .from_sizes = group.from_sizes,
                           .carried = group.carried,
                           .beside = group.beside,
                           .scalar_places = PlacesOfScalars(group),
                           .parts = group.parts,
                           .cost = CostOf(group, first_executions,
                                          facts.wall_ns.at(site.process_id),
                                          facts.observed.contains(site.process_id))};
  // torch.compile makes a number a tensor after its first change, and only then says what needs its value.
  if (std::ranges::any_of(group.causes, [](const RecompileCause& cause) {
        return cause.constant == ConstantKind::kNeededNumber;
      }))
    figures.cause.constant = ConstantKind::kNeededNumber;
  if (figures.sizes && !figures.sizes->sizes.empty()) {
    figures.grows_steadily = GrowsSteadily(*figures.sizes) && !IsUploadedAgain(figures);
    // No padding of one input keeps a size inside the graph, and torch.compile can make sizes dynamic.
    // The sizes of compiles without a graph are not known, so neither is what padding saves.
    if (!figures.grows_steadily && !figures.cause.is_size_inside && group.carried == 0 &&
        figures.cause.seen_in != SeenIn::kGuard) {
      figures.padding = PaddingOf(*figures.sizes);
      // Each size compiles all parts of a divided graph.
      figures.padding->saved =
          std::min(figures.padding->saved * static_cast<int64_t>(group.parts),
                   std::max(figures.padding->saved, static_cast<int64_t>(group.compiles.size())));
    }
  }
  figures.is_only_loaded = figures.cost.loaded == int64_t(group.compiles.size());
  figures.is_rare_smaller_size =
      figures.sizes && IsRareSmallerSize(group, *figures.sizes, executions);
  return figures;
}

// Returns whether the place that the cause itself recorded is the one to show. An input has no line
// of its own in XLA's programs. The line that calls the function says more than a line inside it.
bool ShowsOwnPlace(const RecompileGroup& group, const Places& places) {
  const RecompileCause& cause = group.cause();
  return !cause.location.empty() &&
         !(cause.near && cause.is_input && !group.site->function.empty() && !places.empty());
}

Subject SubjectOf(const RecompileGroup& group, const Places& places) {
  const RecompileCause& cause = group.cause();
  Subject subject{.scope = TextOrNull(cause.scope),
                  .op = TextOrNull(cause.Name()),
                  .graph_hash = TextOrNull(group.compiles.front()->hash)};
  const SourcePlace* place = ShowsOwnPlace(group, places) ? &cause.location
                             : !places.empty()            ? &places.front().first
                                                          : nullptr;
  if (place != nullptr) subject.SetPlace(*place);
  // The place that clears the caches is in another function.
  const bool is_elsewhere =
      std::holds_alternative<note::CachesCleared>(cause.note) && !cause.location.empty();
  if (!group.site->function.empty() && !is_elsewhere && group.parts == 1)
    subject.function = group.site->function;
  return subject;
}

Reason ReasonOf(const RecompileGroup& group, const Places& places) {
  const RecompileCause& cause = group.cause();
  Reason reason{.type = cause.type, .state = group.state.word};
  if (group.state.step) {
    const auto number = group.steps->number.find(*group.state.step);
    reason.step = number != group.steps->number.end() ? number->second : *group.state.step;
  }
  reason.node = TextOrNull(cause.Name());
  reason.before = TextOrNull(Bounded(cause.before));
  reason.after = TextOrNull(Bounded(cause.after));
  if (ShowsOwnPlace(group, places)) {
    reason.location = RecordedPlace{.place = cause.location, .is_near = cause.near};
  } else if (!places.empty() && !group.site->function.empty()) {
    reason.location = RecordedPlace{.place = places.front().first};
  }
  return reason;
}

// Adds the compiles of the group, and the two graphs that were compared, if any.
void AddEvidence(const RecompileGroup& group, const Places& places, Finding& finding,
                 RecompileFigures& figures) {
  Evidence evidence{.table = "compile"};
  for (const CompileFact* compile : group.compiles) {
    if (evidence.rows.size() < kMaxCompileRows) evidence.rows.push_back(compile->id);
    if (!evidence.ts_ns && compile->ts_ns)
      evidence.ts_ns = compile->ts_ns, evidence.dur_ns = compile->dur_ns;
  }
  finding.evidence.push_back(std::move(evidence));
  CompilesSeen seen{.compiles = group.compiles.size(),
                    .at_site = group.site->compiles.size() + group.compiles_of_others,
                    .steps = group.steps->count(),
                    .steps_from = group.steps->from,
                    .other_lines = group.other_places,
                    .has_parts = group.parts > 1};
  for (size_t i = 1; i < std::min(places.size(), kMaxPlaces); ++i)
    seen.other_lines.push_back(places[i]);
  figures.evidence.emplace_back(std::move(seen));
  const RecompileCause& cause = group.cause();
  if (cause.graph_before && cause.graph_after) {
    finding.evidence.push_back(
        {.table = "graph", .rows = {*cause.graph_before, *cause.graph_after}});
    figures.evidence.emplace_back(std::nullopt);
  }
}

// Returns the steps of a few compiles, or nothing if there are more or a step is not known.
std::vector<int64_t> StepsOfFew(const RecompileGroup& group) {
  constexpr size_t kMost = 5;
  std::vector<int64_t> steps;
  for (const CompileFact* compile : group.compiles) {
    if (!compile->is_placed || compile->step != compile->latest_step) return {};
    if (steps.empty() || steps.back() != compile->step) steps.push_back(compile->step);
  }
  return group.state.step && steps.size() <= kMost ? steps : std::vector<int64_t>();
}

Finding MakeFinding(RecompileGroup& group, const CompileSites& facts,
                    const FirstExecutions& first_executions, const CutCompiles& cut,
                    const std::map<std::string, int64_t>& executions) {
  const int64_t process_id = group.site->process_id;
  const Places places = PlacesOf(group, facts);
  SetState(group);
  RecompileFigures figures = FiguresOf(group, first_executions, facts, executions);
  // Programs that come from a cache are counted only if all do.
  const int64_t all = int64_t(group.compiles.size());
  Finding finding{.subject = SubjectOf(group, places),
                  .count = figures.is_only_loaded ? all : all - figures.cost.loaded,
                  .cost_ns = CostNs(group, figures.cost),
                  .reason = ReasonOf(group, places)};
  if (std::holds_alternative<note::OnlyStaticArgumentsAreLeft>(group.cause().note))
    finding.certainty = Certainty::kInferred;
  if (group.cause().type == ReasonType::kUnknown) figures.in_steps = StepsOfFew(group);
  figures.site.explained = facts.explained.contains(process_id);
  figures.may_be_other_programs = MayBeOtherPrograms(group, executions);
  figures.may_be_one_step = group.may_be_one_step;
  if (!figures.may_be_other_programs && !figures.may_be_one_step &&
      !AreOtherPieces(group, executions)) {
    SetSaving(group, facts.unlike_others, &finding, &figures);
    OptInt cost_ns = finding.cost_ns;
    if (cost_ns) *cost_ns -= figures.cost.loaded_ns;  // the next run loads these programs, too
    finding.needs_fixing =
        NeedsFixing(group, figures.cost.measured_share, cost_ns, facts.compiling_ns.at(process_id),
                    figures.is_rare_smaller_size);
  }
  ForgetUnknownEnd(group, cut, *finding.reason);
  if (group.steps->count() > 0) {
    finding.per_step =
        static_cast<double>(group.compiles.size()) / static_cast<double>(group.steps->count());
  }
  AddEvidence(group, places, finding, figures);
  finding.figures = std::move(figures);
  return finding;
}

// Makes a warning of what compiled at a place whose programs take turns, if it has stopped and took a
// considerable part of the process's time. Each group of its compiles may be cheap by itself, so their
// sum is judged, and the dearest one is the warning. Compiles of the first steps there are not counted.
void JudgePlaces(const std::vector<RecompileGroup>& groups, const CompileSites& facts,
                 const Turns& turns, std::vector<std::pair<int64_t, Finding>>& found) {
  struct Sum {
    int64_t compiles = 0, ns = 0, dearest_ns = 0;
    Finding* dearest = nullptr;
  };
  std::map<const CompileSite*, Sum> sums;
  for (size_t i = 0; i < groups.size(); ++i) {
    const RecompileGroup& group = groups[i];
    Finding& finding = found[i].second;
    const auto& figures = std::any_cast<const RecompileFigures&>(finding.figures);
    if (group.state.word != State::kSettled || !figures.cost.is_of_process || IsNewState(group) ||
        group.causes.back().is_dynamic || figures.is_rare_smaller_size || group.parts > 1 ||
        figures.may_be_other_programs || figures.may_be_one_step || AreFewSizesOfStart(group))
      continue;
    int64_t ns = 0;
    Sum& sum = sums[group.site];
    for (const CompileFact* compile : group.compiles) {
      const int64_t since_first = compile->step - group.site->compiles.front().step;
      if (since_first < policy::kMinWarmUpSteps || compile->is_loaded()) continue;
      ++sum.compiles;
      ns += compile->compiling_ns();
    }
    sum.ns += ns;
    if (ns > sum.dearest_ns) sum.dearest_ns = ns, sum.dearest = &finding;
  }
  for (const auto& [site, sum] : sums) {
    const OptInt wall_ns = facts.wall_ns.at(site->process_id);
    if (sum.compiles > policy::kFewRecompiles && wall_ns && turns.AreTakenAt(*site) &&
        double(sum.ns) >= policy::kDearCompilingShare * double(*wall_ns))
      sum.dearest->needs_fixing = true;
  }
}

// Names the programs that a guard's two values have, so that their executions can be counted. The older
// one is known if only one program came before.
void NamePrograms(const CompileSite& site, size_t index, CompileReason& reason) {
  const CompileFact& compile = site.compiles[index];
  for (RecompileCause& cause : reason.causes) {
    if (cause.seen_in != SeenIn::kGuard || cause.is_dynamic) continue;
    cause.program_after = compile.graph_id;
    if (index == 1) cause.program_before = site.compiles.front().graph_id;
  }
}

// Merges the findings of a job's ranks, which recompile together, and keeps the finding of the
// process with most recompiles. All these findings have `Figures`.
template <typename Figures>
void MergeProcesses(const Ranks& ranks, std::vector<std::pair<int64_t, Finding>>* found) {
  // By subject: the place of its finding, and the processes that have it.
  std::map<std::string, std::pair<size_t, std::set<int64_t>>> first;
  std::vector<std::pair<int64_t, Finding>> merged;
  for (auto& [process_id, finding] : *found) {
    const Subject& subject = finding.subject;
    // Ranks spend most time at different lines outside of jit, but make the same programs there.
    const std::string key =
        finding.reason->type == ReasonType::kOutsideJit
            ? fmt::format("{}|{}", finding.reason->type,
                          finding.reason->state.value_or(State::kUnknown))
            : fmt::format("{}|{}|{}|{}|{}", finding.reason->type, subject.file.value_or(""),
                          subject.line.value_or(0), subject.function.value_or(""),
                          subject.op.value_or(""));
    const auto at = first.find(key);
    if (at == first.end() || merged[at->second.first].first == process_id) {
      first.try_emplace(key, merged.size(), std::set<int64_t>{process_id});
      merged.emplace_back(process_id, std::move(finding));
      continue;
    }
    at->second.second.insert(process_id);
    Finding& kept = merged[at->second.first].second;
    if (finding.count > kept.count) std::swap(finding, kept);
    // The kept finding gets the evidence of the others, except for their graphs, because it shows its
    // own.
    auto& all = std::any_cast<Figures&>(kept.figures).evidence;
    auto& more = std::any_cast<Figures&>(finding.figures).evidence;
    for (size_t i = 0; i < finding.evidence.size(); ++i) {
      if (finding.evidence[i].table == "graph") continue;
      kept.evidence.push_back(std::move(finding.evidence[i]));
      all.push_back(std::move(more[i]));
    }
  }
  for (const auto& [key, entry] : first) {
    const auto& [index, processes] = entry;
    Finding& finding = merged[index].second;
    std::any_cast<Figures&>(finding.figures).processes = int64_t(processes.size());
    std::vector<int64_t> compiles;
    for (const Evidence& evidence : finding.evidence) {
      if (evidence.table == CompileRow::kTable)
        compiles.insert(compiles.end(), evidence.rows.begin(), evidence.rows.end());
    }
    finding.only_ranks =
        ranks.Only(processes, finding.subject.function.value_or(""), ranks.FormatsOf(compiles));
  }
  *found = std::move(merged);
}

// Returns how often each process executed each graph, by CompileFact::graph_key. "" stands for unknown
// graphs.
absl::StatusOr<std::map<int64_t, std::map<std::string, int64_t>>> ExecutionsByGraph(
    const Run& run) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  std::map<int64_t, std::map<std::string, int64_t>> times;
  for (const ExecutionRow& row : executions->rows) {
    const GraphRow* graph = graphs->Find(row.graph_id);
    const OptText key = graph == nullptr ? OptText() : graph->hash ? graph->hash : graph->number;
    ++times[row.process_id.value_or(0)][key.value_or("")];
  }
  return times;
}

absl::StatusOr<Findings> FindRecompilations(const Run& run) {
  XP_TRY(const CompileSites* compiled, run.Get<CompileSites>());
  const CompileSites& facts = *compiled;
  XP_TRY(ReasonFinder finder, ReasonFinder::Make(run, facts));
  XP_TRY(auto executions, ExecutionsByGraph(run));
  XP_TRY(const GraphExecutions executions_of, ExecutionsOfGraphs(run));
  XP_TRY(const std::set<int64_t> unnamed, ProcessesWithUnknownGraphs(run));
  XP_TRY(const FirstExecutions* first_executions, run.Get<FirstExecutions>());
  XP_TRY(const CutCompiles* cut, run.Get<CutCompiles>());
  XP_TRY(const Ranks* ranks, run.Get<Ranks>());
  XP_TRY(const UploadSizes* upload_sizes, run.Get<UploadSizes>());
  std::map<int64_t, UnmarkedReads> growing;  // by process
  for (const auto& [process_id, steps] : facts.steps) {
    XP_TRY(const UnmarkedReads* unmarked, run.Get<UnmarkedReads>(process_id));
    if (!unmarked->reads.empty() && unmarked->grow()) growing[process_id] = *unmarked;
  }
  XP_TRY(const Turns turns, Turns::Of(run));
  std::vector<std::pair<int64_t, Finding>> found;
  XP_TRY(const IterationPieces* pieces, run.Get<IterationPieces>());
  std::vector<RecompileGroup> groups;
  for (const CompileSite& site : facts.sites) {
    XP_TRY(const std::vector<SourcePlace> places, CallPlaces(run, facts, site));
    const StepsSeen& steps = facts.steps.at(site.process_id);
    const bool is_somewhere =
        site.place.empty() && site.function.empty() && !IsPart(site.compiles.front());
    if (is_somewhere && pieces->processes.contains(site.process_id)) continue;
    // Without steps, a key that differs only in sizes shows a change, or another call in one step.
    const auto may_be_one_step = [&](const CompileFact& compile) {
      return steps.from != StepsFrom::kSteps && IsPart(compile) && finder.IsStated(compile);
    };
    std::vector<size_t> recompiles;
    std::vector<CompileReason> reasons;
    for (size_t i = 0; i < site.compiles.size(); ++i) {
      // torch.compile states a reason for each recompilation.
      if (i > 0 && site.cause == CutKind::kCompiledFunction && !finder.IsStated(site.compiles[i]))
        continue;
      if (!site.compiles[i].in_slice ||
          (i > 0 &&
           (pieces->Contain(site.process_id, site.compiles[i].hash) ||
            (MayBeOtherCall(site, site.compiles[i], steps) && !may_be_one_step(site.compiles[i])))))
        continue;
      std::optional<CompileReason> reason;
      if (i == 0) {
        XP_TRY(reason, finder.WhyFirst(site));
      } else {
        XP_TRY(reason, finder.Why(site, i));
        if (reason) NamePrograms(site, i, *reason);
      }
      if (!reason || (IsOnlyCallOfItsLine(places, i) && !CouldShareProgram(reason->causes.front())))
        continue;
      recompiles.push_back(i);
      reasons.push_back(*std::move(reason));
    }
    if (const auto at = growing.find(site.process_id); at != growing.end()) {
      for (CompileReason& reason : reasons) ReplaceGrowth(at->second, &reason);
    }
    ReplaceByGrowth(site, recompiles, &reasons);
    MergeCausesGuessedFromSizes(&reasons);
    ExplainUnprinted(&reasons);
    CarryCauses(site, recompiles, &reasons);
    for (RecompileGroup& group : Divide(site, steps, recompiles, reasons)) {
      group.executions = &executions_of;
      const auto uploads = upload_sizes->by_process.find(site.process_id);
      if (uploads != upload_sizes->by_process.end()) group.uploads = &uploads->second;
      group.may_be_one_step = may_be_one_step(*group.compiles.front());
      group.counts_all_executions = !unnamed.contains(site.process_id);
      XP_TRY(CountOthers(run, &group));
      groups.push_back(std::move(group));
    }
  }
  UniteParts(&groups);
  for (RecompileGroup& group : groups) {
    const int64_t process_id = group.site->process_id;
    found.emplace_back(process_id,
                       MakeFinding(group, facts, *first_executions, *cut, executions[process_id]));
  }
  JudgePlaces(groups, facts, turns, found);
  MergeProcesses<RecompileFigures>(*ranks, &found);
  Findings findings;
  std::set<int64_t> told;
  for (auto& [process_id, finding] : found) {
    if (finding.needs_fixing || growing.contains(process_id)) told.insert(process_id);
    findings.push_back(std::move(finding));
  }
  XP_TRY(auto outside, OutsideJit(run, facts));
  MergeProcesses<OutsideJitFigures>(*ranks, &outside);
  for (auto& [process_id, finding] : outside) findings.push_back(std::move(finding));
  XP_TRY(Findings of_torch_compile, FromDynamo(run));
  for (Finding& finding : of_torch_compile) findings.push_back(std::move(finding));
  XP_TRY(Findings counted, FromCounts(run, told));
  for (Finding& finding : counted) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Analyzer recompilation{
    .name = "recompilation",
    .summary = "places that keep compiling, and what changed in their graphs",
    .meaning =
        "The program compiles its graph again, although it has run before. Each recompile stops the program for as long as XLA takes, often seconds. The finding names the line, what differs between the two graphs (a size, a number that is part of the graph, an op), and whether the program still recompiles at the end.",
    .looks_at = "compiles, printed graphs, debug blocks, metrics",
    .find = FindRecompilations,
    .say = SayRecompilation,
    .thresholds = {policy::kMinWarmUpSteps,
                   policy::kMaxWarmUpShare,
                   policy::kFewRecompiles,
                   policy::kDearCompilingShare,
                   policy::kDearCompilingNs,
                   policy::kCheapCompilingShare,
                   policy::kRareSizeShare,
                   policy::kGrowingSizes,
                   policy::kGrowingShare,
                   policy::kNodesOfListInput,
                   policy::kBurstCompiles,
                   policy::kBurstSteps,
                   policy::kBurstPartOfRun,
                   policy::kCleanStepsAfterBurst,
                   policy::kRoundsOfPieces,
                   policy::kStepsWithPieces,
                   policy::kSettledBeforeShare,
                   policy::kFirstStepsShare,
                   policy::kFewSizes,
                   policy::kTakesTurnsShare,
                   policy::kSeveralReports,
                   policy::kCompilesBeyondClean,
                   policy::kCompilesPerStep,
                   policy::kCompileTimeShare,
                   policy::kManyCompilesBeyondClean,
                   policy::kNewGraphShare,
                   policy::kManyCompiles,
                   policy::kManyGraphs,
                   policy::kManyOperations,
                   policy::kSureOperationNames,
                   policy::kRepeatedLoop,
                   policy::kOperationInputs,
                   policy::kManyUnpricedOperations,
                   policy::kMostPrograms},
    .spent_on = SpentOn::kCompiling};
}  // namespace xlaprof
