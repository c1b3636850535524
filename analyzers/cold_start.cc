// Gives one account of the start of a process: tracing and compiling each program for the first time,
// loading programs from caches, and the first transfers. It asks for no change, because a clean program
// starts like this, too. Compilations that take too long are also reported by slow_compile.
#include "analyzers/cold_start.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/recompile/first_compilations.h"
#include "analyzers/run/cache_use.h"
#include "analyzers/run/capture.h"
#include "analyzers/run/compile_alarms.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "base/metric_names.h"

namespace xlaprof {
namespace {

constexpr size_t kMostColdRows = 12;  // compilations that the finding cites

// The compilations and loads of one process.
struct Start {
  std::vector<const FirstCompilation*> compiles;
  std::vector<const LoadedProgram*> loads;
  int64_t ns() const {
    int64_t sum = 0;
    for (const FirstCompilation* c : compiles) sum += c->ns + c->trace_ns.value_or(0);
    for (const LoadedProgram* l : loads) sum += l->ns.value_or(0);
    return sum;
  }
};

std::map<int64_t, Start> StartsOf(const FirstCompilations& firsts) {
  std::map<int64_t, Start> starts;
  for (const FirstCompilation& c : firsts.all) {
    if (c.first_of_site && !c.is_for_read) starts[c.process_id].compiles.push_back(&c);
  }
  for (const LoadedProgram& l : firsts.loaded) starts[l.process_id].loads.push_back(&l);
  return starts;
}

void AddCaches(const CacheUse& use, int64_t process_id, const Start& start,
               ColdStartFigures& figures) {
  CachesAtStart& caches = figures.caches;
  caches.loaded = int64_t(start.loads.size());
  for (const LoadedProgram* load : start.loads) {
    if (load->ns) caches.load_ns = caches.load_ns.value_or(0) + *load->ns;
  }
  for (const SoughtProgram& program : use.programs) {
    if (program.process_id != process_id) continue;
    if (program.outcome == CacheOutcome::kMissed) ++caches.missed;
    if (program.saved_ns) caches.saved_ns = caches.saved_ns.value_or(0) + *program.saved_ns;
  }
}

// Returns the time that a cache of programs can save: that of compiling without what Python does.
int64_t MostSaved(const ColdStartFigures& figures) {
  int64_t ns = figures.compile_ns;
  for (const auto& [phase, part_ns] : figures.phases_ns) {
    if (phase == CompilePhase::kDynamo) ns -= part_ns;
  }
  return ns;
}

// Adds the time to the first steady step, and the transfers until then.
absl::Status AddWindow(const Run& run, int64_t process_id, const Start& start,
                       ColdStartFigures& figures) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  const std::optional<Interval> steady = steps->SteadyWindow(process_id);
  if (!steady) return absl::OkStatus();
  std::vector<Interval> busy;
  for (const FirstCompilation* c : start.compiles) {
    if (!c->ts_ns) return absl::OkStatus();  // nobody knows whether it is in this time
    busy.push_back({*c->ts_ns - c->trace_ns.value_or(0), *c->ts_ns + c->ns});
  }
  int64_t upload_ns = 0;
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  for (const TransferRow& row : transfers->rows) {
    if (row.process_id.value_or(0) != process_id || !row.ts_ns || !row.dur_ns ||
        *row.ts_ns + *row.dur_ns > steady->begin_ns)
      continue;
    upload_ns += *row.dur_ns;
    busy.push_back({*row.ts_ns, *row.ts_ns + *row.dur_ns});
  }
  if (upload_ns > 0) figures.upload_ns = upload_ns;
  XP_TRY(const CaptureWindows* windows, run.Get<CaptureWindows>());
  const auto window = windows->by_process.find(process_id);
  if (window == windows->by_process.end() || busy.empty()) return absl::OkStatus();
  const Interval until{window->second.begin_ns, steady->begin_ns};
  if (until.length_ns() <= 0) return absl::OkStatus();
  figures.until_steady_ns = until.length_ns();
  figures.rest_ns = until.length_ns() - Overlap(Union(std::move(busy)), until);
  return absl::OkStatus();
}

absl::StatusOr<Finding> AccountOf(const Run& run, int64_t process_id, Start start) {
  ColdStartFigures figures{.places = int64_t(start.compiles.size())};
  std::ranges::stable_sort(start.compiles, std::greater(), &FirstCompilation::ns);
  Finding finding{.count = figures.places,
                  .reason = Reason{.type = ReasonType::kFirstCompilations}};
  if (!start.compiles.empty()) finding.subject = About(*start.compiles.front());
  std::map<CompilePhase, int64_t> phases;
  int64_t trace_ns = 0;
  for (const FirstCompilation* c : start.compiles) {
    figures.compile_ns += c->ns;
    trace_ns += c->trace_ns.value_or(0);
    for (const auto& [phase, ns] : c->phases_ns) phases[phase] += ns;
    if (finding.evidence.size() == kMostColdRows) continue;
    finding.evidence.push_back(
        {.table = "compile", .rows = {c->row}, .ts_ns = c->ts_ns, .dur_ns = c->ns});
    figures.examples.push_back(Timed(*c));
  }
  if (start.compiles.empty()) {
    finding.count = int64_t(start.loads.size());
    for (const LoadedProgram* load : start.loads) {
      if (finding.evidence.size() == kMostColdRows) break;
      finding.evidence.push_back({.table = "compile", .rows = {load->row}, .dur_ns = load->ns});
    }
  } else {
    figures.longest_ns = start.compiles.front()->ns, figures.longest_is_known = true;
  }
  figures.phases_ns.assign(phases.begin(), phases.end());
  figures.tracing = TracingOf(trace_ns, figures.compile_ns);
  finding.cost_ns = start.ns();
  XP_TRY(const CacheUse* caches, run.Get<CacheUse>());
  AddCaches(*caches, process_id, start, figures);
  figures.most_saved_ns = MostSaved(figures);
  XP_TRY(AddWindow(run, process_id, start, figures));
  XP_TRY(const Steps* steps, run.Get<Steps>());
  figures.steps = StepsAsLongAs(figures.compile_ns, Median(steps->steady_ns));
  finding.figures = std::move(figures);
  return finding;
}

Finding StartInMetric(const CompileTimeSum& sum) {
  return {.count = sum.samples,
          .cost_ns = sum.ns,
          .reason = Reason{.type = ReasonType::kFirstCompilations},
          .evidence = {{.table = "metric", .rows = {sum.row}, .text = metric_names::kCompileTime}},
          .figures = ColdStartFigures{.compile_ns = sum.ns,
                                      .longest_ns = sum.longest_ns,
                                      .longest_is_known = sum.longest_is_known}};
}

// Returns the time that XLA spent trying algorithms, as far as its alarms tell it.
absl::StatusOr<OptInt> Autotuning(const Run& run) {
  XP_TRY(const std::vector<CompileAlarms> alarms,
         LoadCompileAlarms(run, /*compiles_are_timed=*/true));
  OptInt ns;
  for (const CompileAlarms& of_kind : alarms) {
    if (of_kind.kind == AlarmKind::kAutotuning) ns = ns.value_or(0) + of_kind.ns;
  }
  return ns;
}

absl::StatusOr<Findings> FindColdStarts(const Run& run) {
  XP_TRY(const FirstCompilations* firsts, run.Get<FirstCompilations>());
  XP_TRY(const std::optional<CompileTimeSum> sum, CompileTimeOf(run));
  std::map<int64_t, Start> starts = StartsOf(*firsts);
  std::erase_if(starts, [](const auto& of) { return of.second.ns() <= 0; });
  Findings findings;
  if (starts.empty()) {
    if (firsts->all.empty() && sum && !sum->is_too_slow) findings.push_back(StartInMetric(*sum));
    return findings;
  }
  const int64_t processes = int64_t(starts.size());
  auto longest =
      std::ranges::max_element(starts, {}, [](const auto& of) { return of.second.ns(); });
  XP_TRY(Finding finding, AccountOf(run, longest->first, std::move(longest->second)));
  auto& figures = std::any_cast<ColdStartFigures&>(finding.figures);
  figures.processes = processes;
  if (processes == 1 && figures.compile_ns > 0) {
    XP_TRY(figures.autotuning_ns, Autotuning(run));
  }
  findings.push_back(std::move(finding));
  return findings;
}

}  // namespace

extern const Analyzer cold_start{
    .name = "cold_start",
    .summary = "what a process does until its first steady step, and what a warm cache saves of it",
    .meaning =
        "A process traces and compiles each program before it runs it for the first time, or loads it from a cache. This is one account of that time: tracing, the parts of compiling, loading, and the first transfers, as far as the files show them. A clean program starts like this, too, so no change is asked for.",
    .looks_at =
        "first compilations with times, look-ups in caches of programs, transfers and steps; else CompileTime",
    .find = FindColdStarts,
    .say = SayColdStart,
    .needs = Needs::kTimelineOrCompileTimes,
    .thresholds = {policy::kTracingPartOfCompile, policy::kAmortisedShare},
    .is_paid_once = true,
    .spent_on = SpentOn::kCompiling};

}  // namespace xlaprof
