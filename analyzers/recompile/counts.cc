// Judges recompilation by counts. The compiles of a clean program are subtracted first. Each of its
// cuts compiles in the first step and again in the second, because state that the first step
// created is then an input. Its set-up compiles once. The number of executions gives the cuts per
// step.
#include "analyzers/recompile/counts.h"

#include <algorithm>
#include <map>

#include "analyzers/policy.h"
#include "analyzers/recompile/count_series.h"
#include "analyzers/run/tables.h"

namespace xlaprof {
namespace {

// Returns the compiles since the report before the last. If the count did not rise in between, the
// interval begins at the first report that has the final count.
std::optional<CountSignals::Between> LastInterval(const std::vector<CountSample>& samples) {
  if (samples.size() < 2 || !samples.back().compiles) return std::nullopt;
  const int64_t last = *samples.back().compiles;
  std::optional<CountSignals::Between> between;
  OptInt count;  // a report omits numbers that did not change
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    if (samples[i].compiles) count = samples[i].compiles;
    if (!count || (count == last && between && between->more == 0)) continue;
    between = CountSignals::Between{.before = *count,
                                    .more = last - *count,
                                    .since_step = samples[i].steps,
                                    .reports = int64_t(samples.size() - 1 - i)};
  }
  return between && between->more >= 0 ? between : std::nullopt;
}

// Finds out whether the count still rose in the last part of the run.
void SetCourse(const std::vector<CountSample>& samples, CountSignals& signals) {
  signals.between = LastInterval(samples);
  if (!signals.between) return;
  const auto& [before, more, since_step, since] = *signals.between;
  const auto reports = int64_t(samples.size());
  signals.quiet =
      more == 0 &&
      (since_step ? signals.steps - *since_step >=
                        std::max<int64_t>(1, signals.steps / policy::kQuietPartOfRun)
                  : reports >= policy::kSeveralReports &&
                        since * policy::kQuietPartOfRun >= reports);
  signals.rises = !signals.quiet && reports >= policy::kSeveralReports &&
                  (more > 0 || since + 1 < reports);
}

// Limits the numbers of a hostile or damaged report.
void Bound(CountSample& sample) {
  for (OptInt* value : {&sample.steps, &sample.saves, &sample.compiles, &sample.executions,
                        &sample.compile_ns, &sample.execute_ns, &sample.cached, &sample.uploads}) {
    if (*value) **value = std::clamp<int64_t>(**value, 0, kMostCounted);
  }
}

// Returns the last sample. Numbers that it lacks are taken from earlier samples.
CountSample LastOf(const std::vector<CountSample>& samples) {
  CountSample last = samples.back();
  for (const CountSample& sample : samples) {
    if (!samples.back().compiles && sample.compiles) last.compiles = sample.compiles;
    if (!samples.back().executions && sample.executions) last.executions = sample.executions;
    // A time belongs to its count, so an earlier time is used only together with the earlier count.
    if (!samples.back().compiles && sample.compile_ns) last.compile_ns = sample.compile_ns;
    if (!samples.back().executions && sample.execute_ns) last.execute_ns = sample.execute_ns;
  }
  return last;
}

// Returns the signals of a series. `last` is its last sample, which has a number of compiles.
CountSignals SignalsOf(const CountSeries& series, const CountSample& last) {
  CountSignals signals{.compiles = *last.compiles,
                       .steps = last.steps.value_or(0),
                       .executions = last.executions,
                       .compile_ns = last.compile_ns,
                       .is_cut = series.is_cut};
  const int64_t compiles = signals.compiles, steps = signals.steps;
  if (steps > 0 && last.executions)
    signals.cuts = std::max<int64_t>(1, (*last.executions + steps / 2) / steps);
  signals.cuts = std::min(signals.cuts, compiles);
  signals.clean = policy::kMinWarmUpSteps * signals.cuts + 1;
  signals.again = std::max<int64_t>(0, compiles - signals.cuts);
  if (last.executions && *last.executions > 0)
    signals.new_share = static_cast<double>(compiles) / static_cast<double>(*last.executions);
  const auto compile_ns = static_cast<double>(last.compile_ns.value_or(0));
  const double busy =
      static_cast<double>(last.compile_ns.value_or(0) + last.execute_ns.value_or(0));
  if (busy > 0) signals.time_share = compile_ns / busy;

  SetCourse(series.samples, signals);
  return signals;
}

bool RecompilesByStep(const CountSignals& signals) {
  const double per_step =
      static_cast<double>(signals.compiles) / static_cast<double>(signals.steps);
  const bool often = per_step > policy::kCompilesPerStep ||
                     (signals.time_share > policy::kCompileTimeShare &&
                      signals.compiles - signals.clean >= policy::kManyCompilesBeyondClean);
  // Without executions, the number of cuts per step is unknown, and each cut may have its own
  // graphs.
  const bool sure =
      signals.executions || per_step >= policy::kNewGraphShare ||
      (per_step > policy::kCompilesPerStep && signals.compiles >= policy::kManyGraphs);
  return often && sure;
}

bool RecompilesByExecution(const CountSignals& signals) {
  const bool most =
      signals.new_share >= policy::kNewGraphShare && signals.compiles >= policy::kManyCompiles;
  const bool many = signals.new_share > policy::kCompilesPerStep &&
                    signals.compiles >= policy::kManyGraphs &&
                    signals.time_share > policy::kCompileTimeShare;
  const bool rises = signals.between && signals.between->more > 0 &&
                     signals.between->before - signals.clean >= policy::kCompilesBeyondClean;
  return most || many || rises;
}

bool Recompiles(const CountSignals& signals) {
  if (signals.quiet || !signals.beyond_clean()) return false;
  return signals.steps > 0 ? RecompilesByStep(signals) : RecompilesByExecution(signals);
}

CountVerdict VerdictOf(const CountSignals& signals, bool recompiles) {
  if (recompiles) {
    if (signals.steps > 0) return CountVerdict::kMoreThanClean;
    return signals.new_share >= policy::kNewGraphShare ? CountVerdict::kMostExecutionsNew
                                                       : CountVerdict::kMoreGraphsThanClean;
  }
  const bool beyond = signals.beyond_clean();
  if (signals.quiet) return CountVerdict::kStopped;
  if (signals.steps == 0) {
    if (!beyond) return CountVerdict::kCleanWithoutSteps;
    const bool few = signals.new_share > 0 && signals.new_share <= policy::kCompilesPerStep;
    return few ? CountVerdict::kFewForExecutions : CountVerdict::kStepsNotTold;
  }
  if (beyond)
    return signals.executions ? CountVerdict::kFewPerStep : CountVerdict::kExecutionsNotTold;
  return signals.is_cut && !signals.compile_ns ? CountVerdict::kCleanByCounters
                                               : CountVerdict::kClean;
}

// Returns whether a series that does not recompile is worth a finding.
bool IsWorthMentioning(const CountSignals& signals) {
  // A user who pastes a report asks whether the program recompiles, and "no" is an answer.
  if (signals.steps > policy::kMinWarmUpSteps && !signals.beyond_clean()) return true;
  return signals.again > 0 &&
         (signals.beyond_clean() || signals.time_share > policy::kCompileTimeShare);
}

std::optional<Finding> Judge(CountSeries series) {
  for (CountSample& sample : series.samples) Bound(sample);
  const CountSample last = LastOf(series.samples);
  if (!last.compiles || *last.compiles == 0) return std::nullopt;
  const CountSignals signals = SignalsOf(series, last);
  const bool recompiles = Recompiles(signals);
  if (!recompiles && !IsWorthMentioning(signals)) return std::nullopt;

  Finding finding{.needs_fixing = recompiles, .count = signals.again};
  if (signals.steps > 0)
    finding.per_step = static_cast<double>(signals.again) / static_cast<double>(signals.steps);
  if (recompiles && signals.compile_ns)
    finding.cost_ns = *signals.compile_ns / signals.compiles * signals.again;
  const bool goes_on = recompiles && signals.rises;
  finding.reason = Reason{.state = goes_on ? State::kOngoing : State::kUnknown};
  if (signals.quiet && signals.beyond_clean())
    finding.reason->state = State::kSettled, finding.reason->step = signals.between->since_step;
  finding.evidence.push_back({.table = series.table, .rows = {last.row}});
  finding.figures = CountFigures{
      .verdict = VerdictOf(signals, recompiles), .source = series.source, .signals = signals};
  return finding;
}

// Returns whether separate reports belong to one process. They do if the saves are numbered, or if
// the first report uploaded the weights and the later ones uploaded little.
bool AreOfOneProcess(const std::vector<CountSample>& samples) {
  if (samples.front().saves) return true;
  const OptInt first = samples.front().uploads;
  return first && std::all_of(samples.begin() + 1, samples.end(), [&](const CountSample& sample) {
           return sample.uploads && *sample.uploads <= *first / policy::kLaterUploadsPart;
         });
}

// Uses the counters if only the metrics were cleared (met.clear_metrics()). The counters then give
// compiles and steps of the whole run, and the times are those of each report.
void GoOnByCounters(CountSeries* series) {
  std::vector<CountSample>& samples = series->samples;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].steps || !samples[i].counted_compiles) return;
    if (i > 0 && (*samples[i].steps <= *samples[i - 1].steps ||
                  *samples[i].counted_compiles < *samples[i - 1].counted_compiles))
      return;
  }
  OptInt compile_ns;
  for (CountSample& sample : samples) {
    Bound(sample);
    if (sample.compile_ns)
      compile_ns = std::min(compile_ns.value_or(0) + *sample.compile_ns, kMostCounted);
    sample.compile_ns = compile_ns;
    sample.executions = sample.cached ? OptInt(*sample.cached + *sample.compiles) : OptInt();
    sample.execute_ns.reset();
  }
  series->is_apart = false;
}

// Judges reports that do not continue one another. Their later compiles came after the first steps
// only if all reports are from one process, which cleared its metrics in between.
std::optional<Finding> JudgeApart(CountSeries series) {
  CountSample total, worst;
  int64_t again = 0;  // compiles of all reports but the first
  for (CountSample& sample : series.samples) {
    Bound(sample);
    auto add = [](OptInt& sum, OptInt more) {
      if (more) sum = std::min(sum.value_or(0) + *more, kMostCounted);
    };
    add(total.steps, sample.steps);
    add(total.compiles, sample.compiles);
    add(total.executions, sample.executions);
    add(total.compile_ns, sample.compile_ns);
    if (&sample != &series.samples.front())
      again = std::min(again + sample.compiles.value_or(0), kMostCounted);
    if (sample.compiles.value_or(0) >= worst.compiles.value_or(0)) worst = sample;
  }
  const size_t reports = series.samples.size();
  const double turns = static_cast<double>(total.steps.value_or(total.executions.value_or(0)));
  const bool often = int64_t(reports) >= policy::kSeveralReports &&
                     again >= policy::kCompilesBeyondClean &&
                     static_cast<double>(again) > policy::kCompilesPerStep * turns;
  const bool one_process = AreOfOneProcess(series.samples);
  std::optional<Finding> alone = Judge({.table = series.table,
                                        .source = {CountSource::Kind::kOneOfReports, reports},
                                        .samples = {worst},
                                        .is_cut = series.is_cut});
  if (!often || (!one_process && alone && alone->needs_fixing)) return alone;
  Finding finding{
      .needs_fixing = one_process, .count = again, .reason = Reason{.state = State::kUnknown}};
  if (total.steps.value_or(0) > 0)
    finding.per_step = static_cast<double>(again) / static_cast<double>(*total.steps);
  if (one_process && total.compile_ns)
    finding.cost_ns = *total.compile_ns / *total.compiles * again;
  finding.evidence.push_back({.table = series.table, .rows = {worst.row}});
  finding.figures = CountFigures{
      .verdict = one_process ? CountVerdict::kGoesOnInEachReport : CountVerdict::kProcessesOrGoesOn,
      .source = series.source,
      .signals = {.compiles = *total.compiles,
                  .steps = total.steps.value_or(0),
                  .executions = total.executions,
                  .compile_ns = total.compile_ns,
                  .again = again}};
  return finding;
}

}  // namespace

bool CountSignals::beyond_clean() const { return compiles - clean >= policy::kCompilesBeyondClean; }

absl::StatusOr<Findings> FromCounts(const Run& run, const std::set<int64_t>& told) {
  // Counts have no clock, so they belong to the whole run.
  if (run.slice().is_part_of_time()) return Findings();
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  struct Known {
    int64_t compiles = 0;
    bool by_log = false;
  };
  std::map<int64_t, Known> known;  // compiles that are known one by one, by process
  for (const CompileRow& compile : compiles->rows) {
    Known& of = known[compile.process_id.value_or(0)];
    ++of.compiles;
    of.by_log |= !compile.ts_ns && !compile.inferred;
  }
  XP_TRY(const CountSeriesByProcess* by_process, run.Get<CountSeriesByProcess>());
  Findings findings;
  for (auto [process_id, one] : by_process->series) {
    if (told.contains(process_id) || one.samples.empty()) continue;
    const auto [seen, by_log] = known[process_id];
    int64_t counted = 0;
    for (const CountSample& sample : one.samples) counted = sample.compiles.value_or(counted);
    if (seen > 0 && counted <= seen) continue;
    // A log covers the whole run. It lacks only what is compiled on threads without Python code, such as
    // those of backward passes, and the compiles that it has were judged place by place.
    if (by_log && counted <= 2 * seen) continue;
    if (one.is_apart) GoOnByCounters(&one);
    std::optional<Finding> finding =
        one.is_apart ? JudgeApart(std::move(one)) : Judge(std::move(one));
    if (!finding || (seen > 0 && !finding->needs_fixing)) continue;
    if (seen > 0) std::any_cast<CountFigures&>(finding->figures).known_compiles = seen;
    findings.push_back(std::move(*finding));
  }
  return findings;
}

}  // namespace xlaprof
