// What a clean program compiles is taken off first: each of its cuts compiles in the first step and
// again in the second (state that the first step made is then an input), and its set-up once. How
// many cuts a step has follows from the number of executions.
#include "analyzers/recompile/counts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/whole.h"

namespace xlaprof {
namespace {

constexpr size_t kSeries = 4;        // reports from which windows can be told: one a quarter
constexpr int64_t kBeyondClean = 2;  // compiles beyond a clean program's that make a pattern
constexpr double kOftenPerStep =
    0.05;  // compiles a step: one in twenty steps is felt where a compile takes seconds
constexpr double kLargeTimeShare =
    0.2;  // of compile and execute time: then compiling is felt at any rate
constexpr int64_t kManyBeyondClean =
    10;  // at a low rate: fewer may be one more phase (evaluation, a last batch)
// Without step marks. A program with C cuts a step executes C times a step and compiles about 2C,
// so after five steps fewer than half of its executions are of a graph that is new.
constexpr double kMostAreNew = 0.5;
constexpr int64_t kManyCompiles = 10;    // fewer may be the set-up and the first steps
constexpr int64_t kMostPlaced = 10'000;  // compiles of one report that get a step
constexpr int64_t kMostCounted = int64_t{1}
                                 << 60;  // no run counts as far; a sum of a few is no overflow
constexpr int64_t kManyGraphs = 50;  // more graphs than one program has, if it does not recompile

constexpr int64_t kFewSteps = 5;  // before the first sample: all of them are the start of the run
constexpr int64_t kLatePart = 4;  // samples that begin behind this part of the run begin late
constexpr int64_t kExpected = 3;  // compiles that a window would have at the rate before it: then
                                  // none is no accident

struct Sample {
  int64_t row = 0;  // metrics_report or profiler_line
  OptInt steps, saves, compiles, executions, compile_ns,
      execute_ns;  // since the start of the process
  OptInt cached;   // executions of graphs that were not compiled
  OptInt uploads;
  OptInt counted_compiles;  // by a counter, which clearing the metrics leaves as it is
};

struct Series {
  std::string table;  // "metrics_report"
  CountSource source;
  std::vector<Sample> samples;
  bool is_cut = false;    // what it lacks may stand in a part that is missing
  bool is_apart = false;  // no sample goes on from the one before it
};

using SeriesOfSources = std::map<std::pair<int64_t, int64_t>, Series>;  // by process and source

// What the import found odd in their sources.
absl::Status TakeIssues(const Run& run, SeriesOfSources& by_source) {
  std::map<int64_t, int64_t> go_on;  // reports of a source with one of their process before them
  for (const auto& [key, series] : by_source)
    go_on[key.second] += static_cast<int64_t>(series.samples.size()) - 1;
  return run.store().Each(
      "SELECT source_id, code, count FROM import_issue WHERE code IN ('cut_file', "
      "'headless_report', 'separate_reports')",
      [&](int64_t source_id, std::string_view code, int64_t count) {
        for (auto& [key, series] : by_source) {
          if (key.second != source_id) continue;
          if (code != "separate_reports") series.is_cut = true;
          if (code == "separate_reports") series.is_apart = count >= go_on[source_id];
        }
      });
}

absl::StatusOr<std::map<int64_t, Series>> LoadMetrics(const Run& run) {
  SeriesOfSources by_source;
  std::map<int64_t, Sample*> by_report;
  XP_TRY(run.store().Each(
      "SELECT id, coalesce(process_id, 0), source_id, mark_step, save_number + 1 FROM "
      "metrics_report ORDER BY 2, source_id, ordinal",
      [&](int64_t id, int64_t process_id, int64_t source_id, OptInt mark_step, OptInt saves) {
        by_source[{process_id, source_id}].samples.push_back(
            {.row = id, .steps = mark_step, .saves = saves});
      }));
  for (auto& [key, series] : by_source) {
    for (Sample& sample : series.samples) by_report[sample.row] = &sample;
  }
  XP_TRY(run.store().Each(
      "SELECT report_id, name, samples, accumulator FROM metric WHERE name IN ('CompileTime', "
      "'ExecuteTime', "
      "'ExecuteReplicatedTime', 'TransferToDeviceTime')",
      [&](int64_t report, std::string_view name, OptInt samples, OptReal accumulator) {
        const auto at = by_report.find(report);
        if (at == by_report.end()) return;
        const OptInt ns = accumulator ? OptInt(Whole(std::round(*accumulator))) : OptInt();
        if (name == "TransferToDeviceTime") {
          at->second->uploads = samples;
        } else if (name == "CompileTime") {
          at->second->compiles = samples, at->second->compile_ns = ns;
        } else if (samples && (!at->second->executions || *samples > *at->second->executions)) {
          at->second->executions = samples, at->second->execute_ns = ns;
        }
      }));
  XP_TRY(run.store().Each(
      "SELECT report_id, name, value FROM counter WHERE name IN ('UncachedCompile', "
      "'CachedCompile', 'MarkStep')",
      [&](int64_t report, std::string_view name, int64_t value) {
        const auto at = by_report.find(report);
        if (at == by_report.end()) return;
        if (name == "MarkStep" && !at->second->steps) at->second->steps = value;
        if (name == "UncachedCompile") at->second->compiles = at->second->counted_compiles = value;
        if (name == "CachedCompile") at->second->cached = value;
      }));
  XP_TRY(TakeIssues(run, by_source));
  for (auto& [key, series] : by_source) {
    // Old reports count no step marks; one was saved at each.
    const bool marks = std::any_of(series.samples.begin(), series.samples.end(),
                                   [](const Sample& s) { return s.steps.has_value(); });
    for (Sample& sample : series.samples) {
      if (!marks) sample.steps = sample.saves;
      if (!sample.executions && sample.cached)
        sample.executions = std::min(*sample.cached, kMostCounted) +
                            std::min(sample.compiles.value_or(0), kMostCounted);
    }
  }
  std::map<int64_t, Series> best;
  for (auto& [key, series] : by_source) {
    series.table = "metrics_report";
    series.source = {CountSource::Kind::kReports, series.samples.size()};
    Series& kept = best[key.first];
    if (series.samples.size() > kept.samples.size()) kept = std::move(series);
  }
  return best;
}

absl::StatusOr<std::map<int64_t, Series>> LoadLines(const Run& run) {
  std::map<int64_t, Series> lines;
  XP_TRY(run.store().Each(
      "SELECT id, coalesce(process_id, 0), samples, steps FROM profiler_line WHERE rule = "
      "'compile_frequent' "
      "AND samples IS NOT NULL AND steps IS NOT NULL ORDER BY 2, ordinal",
      [&](int64_t id, int64_t process_id, int64_t samples, int64_t steps) {
        lines[process_id].samples.push_back({.row = id, .steps = steps, .compiles = samples});
      }));
  for (auto& [process_id, series] : lines) {
    series.table = "profiler_line";
    series.source = {CountSource::Kind::kFrequentLines, series.samples.size()};
  }
  return lines;
}

// The step of each compile. A report leaves out what did not change; what the first sample holds is
// spread over the steps before it.
std::vector<int64_t> StepsOfCompiles(const std::vector<Sample>& samples) {
  std::vector<int64_t> compiles;
  int64_t count = 0, steps = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Sample& sample = samples[i];
    const int64_t now = sample.steps.value_or(static_cast<int64_t>(i) + 1),
                  total = sample.compiles.value_or(count);
    if (total < count) count = 0;  // cleared
    // So many are enough to place; a hostile report claims as many as it likes.
    const int64_t more = std::min(total - count, kMostPlaced);
    const int64_t first = std::min(steps, now - 1), length = std::max<int64_t>(1, now - first);
    for (int64_t k = 0; k < more; ++k) {
      int64_t step = std::max<int64_t>(
          0, first + static_cast<int64_t>(static_cast<double>(k) * static_cast<double>(length) /
                                          static_cast<double>(more)));
      if (step == kWarmUpSteps)
        --step;  // the first mark may be set-up's, such as a loader's, and no step
      compiles.push_back(step);
    }
    count = total, steps = std::max(steps, now);
  }
  std::sort(compiles.begin(), compiles.end());
  return compiles;
}

// Of compiles at the steps `when`. Where the samples begin late in the run, the first one's
// compiles may lie anywhere before it: what it did since then counts.
RecompileState StateInWindows(const std::vector<Sample>& samples, const std::vector<int64_t>& when,
                              int64_t steps) {
  const int64_t last = steps > 0 ? steps - 1 : static_cast<int64_t>(samples.size()) - 1;
  const int64_t begin = samples.front().steps.value_or(0);
  if (begin < kFewSteps || kLatePart * begin < steps) return StateOf(when, 0, last);
  const auto later = std::lower_bound(when.begin(), when.end(), begin);
  RecompileState state{.word = State::kUnknown};
  if (later != when.end()) {
    state = StateOf(std::vector<int64_t>(later, when.end()), begin, last);
  } else if ((steps - begin) * static_cast<int64_t>(when.size()) >= kExpected * begin) {
    state.word = State::kSettled, state.step = begin - 1;
  }
  state.after_warm_up = static_cast<int64_t>(when.size());
  return state;
}

std::optional<CountSignals::Between> LastInterval(const std::vector<Sample>& samples) {
  if (samples.size() < 2 || !samples.back().compiles) return std::nullopt;
  OptInt before;  // a report leaves out what did not change
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    if (samples[i].compiles) before = samples[i].compiles;
  }
  if (!before || *samples.back().compiles < *before) return std::nullopt;
  return CountSignals::Between{*before, *samples.back().compiles - *before,
                               samples[samples.size() - 2].steps};
}

// Numbers of a hostile or damaged report, made harmless.
void Bound(Sample& sample) {
  for (OptInt* value : {&sample.steps, &sample.saves, &sample.compiles, &sample.executions,
                        &sample.compile_ns, &sample.execute_ns, &sample.cached, &sample.uploads}) {
    if (*value) **value = std::clamp<int64_t>(**value, 0, kMostCounted);
  }
}

// The last sample, with what only earlier ones say.
Sample LastOf(const std::vector<Sample>& samples) {
  Sample last = samples.back();
  for (const Sample& sample : samples) {
    if (!samples.back().compiles && sample.compiles) last.compiles = sample.compiles;
    if (!samples.back().executions && sample.executions) last.executions = sample.executions;
    // A time goes with its count: one that was cut off is not an earlier one's.
    if (!samples.back().compiles && sample.compile_ns) last.compile_ns = sample.compile_ns;
    if (!samples.back().executions && sample.execute_ns) last.execute_ns = sample.execute_ns;
  }
  return last;
}

// `last`: of the series, with a number of compiles.
CountSignals SignalsOf(const Series& series, const Sample& last) {
  CountSignals signals{.compiles = *last.compiles,
                       .steps = last.steps.value_or(0),
                       .executions = last.executions,
                       .compile_ns = last.compile_ns,
                       .is_cut = series.is_cut};
  const int64_t compiles = signals.compiles, steps = signals.steps;
  if (steps > 0 && last.executions)
    signals.cuts = std::max<int64_t>(1, (*last.executions + steps / 2) / steps);
  signals.cuts = std::min({signals.cuts, compiles, kMostPlaced});
  signals.clean = kWarmUpSteps * signals.cuts + 1;
  signals.again = std::max<int64_t>(0, compiles - signals.cuts);
  if (last.executions && *last.executions > 0)
    signals.new_share = static_cast<double>(compiles) / static_cast<double>(*last.executions);
  const auto compile_ns = static_cast<double>(last.compile_ns.value_or(0));
  const double busy =
      static_cast<double>(last.compile_ns.value_or(0) + last.execute_ns.value_or(0));
  if (busy > 0) signals.time_share = compile_ns / busy;

  std::vector<int64_t> when = StepsOfCompiles(series.samples);
  when.erase(when.begin(),
             when.begin() + std::min<int64_t>(signals.cuts, static_cast<int64_t>(when.size())));
  signals.in_windows = series.samples.size() >= kSeries && !when.empty();
  if (signals.in_windows) {
    signals.state = StateInWindows(series.samples, when, steps);
  } else if (const auto between = signals.between = LastInterval(series.samples)) {
    signals.quiet = between->more == 0 && between->since_step &&
                    steps - *between->since_step >= std::max<int64_t>(1, steps / 4);
  }
  return signals;
}

bool RecompilesInWindows(const CountSignals& signals) {
  const RecompileState& state = signals.state;
  const bool early = state.step && 4 * *state.step < signals.steps;
  return state.word == State::kOngoing || state.word == State::kBurst ||
         (state.word == State::kSettled && state.after_warm_up > kBeyondClean && !early);
}

bool RecompilesByStep(const CountSignals& signals) {
  const double per_step =
      static_cast<double>(signals.compiles) / static_cast<double>(signals.steps);
  const bool often =
      per_step > kOftenPerStep || (signals.time_share > kLargeTimeShare &&
                                   signals.compiles - signals.clean >= kManyBeyondClean);
  // Without executions, the cuts of a step are unknown, and each may have its graphs.
  const bool sure = signals.executions || per_step >= kMostAreNew ||
                    (per_step > kOftenPerStep && signals.compiles >= kManyGraphs);
  return often && sure;
}

bool RecompilesByExecution(const CountSignals& signals) {
  const bool most = signals.new_share >= kMostAreNew && signals.compiles >= kManyCompiles;
  const bool many = signals.new_share > kOftenPerStep && signals.compiles >= kManyGraphs &&
                    signals.time_share > kLargeTimeShare;
  const bool rises = signals.between && signals.between->more > 0 &&
                     signals.between->before - signals.clean >= kBeyondClean;
  return most || many || rises;
}

bool Recompiles(const CountSignals& signals) {
  if (signals.in_windows && signals.state.word != State::kUnknown)
    return RecompilesInWindows(signals);
  if (signals.quiet || !signals.beyond_clean()) return false;
  return signals.steps > 0 ? RecompilesByStep(signals) : RecompilesByExecution(signals);
}

CountVerdict VerdictOf(const CountSignals& signals, bool recompiles) {
  if (recompiles) {
    if (signals.steps > 0) return CountVerdict::kMoreThanClean;
    return signals.new_share >= kMostAreNew ? CountVerdict::kMostExecutionsNew
                                            : CountVerdict::kMoreGraphsThanClean;
  }
  const bool beyond = signals.beyond_clean();
  if (signals.quiet) return CountVerdict::kStopped;
  if (signals.steps == 0) {
    if (!beyond) return CountVerdict::kCleanWithoutSteps;
    const bool few = signals.new_share > 0 && signals.new_share <= kOftenPerStep;
    return few ? CountVerdict::kFewForExecutions : CountVerdict::kStepsNotTold;
  }
  if (beyond)
    return signals.executions ? CountVerdict::kFewPerStep : CountVerdict::kExecutionsNotTold;
  return signals.is_cut && !signals.compile_ns ? CountVerdict::kCleanByCounters
                                               : CountVerdict::kClean;
}

// Whether a series that does not recompile is worth a finding.
bool IsWorthTelling(const CountSignals& signals) {
  // Whoever pastes a report asks whether it recompiles: "no" is an answer.
  if (signals.steps > kWarmUpSteps && !signals.beyond_clean()) return true;
  return signals.again > 0 && (signals.beyond_clean() || signals.state.word == State::kWarmUp ||
                               signals.time_share > kLargeTimeShare);
}

std::optional<Finding> Judge(Series series) {
  for (Sample& sample : series.samples) Bound(sample);
  const Sample last = LastOf(series.samples);
  if (!last.compiles || *last.compiles == 0) return std::nullopt;
  const CountSignals signals = SignalsOf(series, last);
  const bool recompiles = Recompiles(signals);
  if (!recompiles && !IsWorthTelling(signals)) return std::nullopt;

  Finding finding{.severity = recompiles ? Severity::kWarning : Severity::kInfo,
                  .count = signals.again};
  if (signals.steps > 0)
    finding.per_step = static_cast<double>(signals.again) / static_cast<double>(signals.steps);
  if (recompiles && signals.compile_ns)
    finding.cost_ns = *signals.compile_ns / signals.compiles * signals.again;
  finding.reason = Reason{.state = signals.state.word, .step = signals.state.step};
  if (signals.quiet && signals.beyond_clean())
    finding.reason->state = State::kSettled, finding.reason->step = signals.between->since_step;
  finding.evidence.push_back({.table = series.table, .rows = {last.row}});
  finding.figures = CountFigures{
      .verdict = VerdictOf(signals, recompiles), .source = series.source, .signals = signals};
  return finding;
}

// Whether reports that stand for themselves are of one process: it numbers its saves, or uploaded
// its weights only in the first, and later little beside them.
bool AreOfOneProcess(const std::vector<Sample>& samples) {
  constexpr int64_t kLittle = 4;  // times less; ranks upload about as much as one another
  if (samples.front().saves) return true;
  const OptInt first = samples.front().uploads;
  return first && std::all_of(samples.begin() + 1, samples.end(), [&](const Sample& sample) {
           return sample.uploads && *sample.uploads <= *first / kLittle;
         });
}

// Where only the metrics were cleared (met.clear_metrics()), the counters go on: they tell compiles
// and steps of the whole run, and the times are each report's own.
void GoOnByCounters(Series* series) {
  std::vector<Sample>& samples = series->samples;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].steps || !samples[i].counted_compiles) return;
    if (i > 0 && (*samples[i].steps <= *samples[i - 1].steps ||
                  *samples[i].counted_compiles < *samples[i - 1].counted_compiles))
      return;
  }
  OptInt compile_ns;
  for (Sample& sample : samples) {
    Bound(sample);
    if (sample.compile_ns)
      compile_ns = std::min(compile_ns.value_or(0) + *sample.compile_ns, kMostCounted);
    sample.compile_ns = compile_ns;
    sample.executions = sample.cached ? OptInt(*sample.cached + *sample.compiles) : OptInt();
    sample.execute_ns.reset();
  }
  series->is_apart = false;
}

// Reports that each stand for themselves: what the later ones compiled came after the first steps
// only if one process cleared its metrics in between.
std::optional<Finding> JudgeApart(Series series) {
  Sample total, worst;
  int64_t again = 0;  // compiles that are not the first report's
  for (Sample& sample : series.samples) {
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
  const bool often = reports >= kSeries && again >= kBeyondClean &&
                     static_cast<double>(again) > kOftenPerStep * turns;
  const bool one_process = AreOfOneProcess(series.samples);
  std::optional<Finding> alone = Judge({.table = series.table,
                                        .source = {CountSource::Kind::kOneOfReports, reports},
                                        .samples = {worst},
                                        .is_cut = series.is_cut});
  if (!often || (!one_process && alone && alone->severity != Severity::kInfo)) return alone;
  Finding finding{.severity = one_process ? Severity::kWarning : Severity::kInfo,
                  .count = again,
                  .reason = Reason{.state = State::kUnknown}};
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

bool CountSignals::beyond_clean() const { return compiles - clean >= kBeyondClean; }

absl::StatusOr<Findings> FromCounts(const Run& run, const std::set<int64_t>& told) {
  // Counts have no clock: they are the whole run's.
  if (run.slice().is_part_of_time()) return Findings();
  std::map<int64_t, int64_t> rows;
  XP_TRY(run.store().Each("SELECT coalesce(process_id, 0), count(*) FROM compile GROUP BY 1",
                          [&](int64_t process_id, int64_t count) { rows[process_id] = count; }));
  XP_TRY(auto series, LoadMetrics(run));
  XP_TRY(auto lines, LoadLines(run));
  for (auto& [process_id, one] : lines) {
    const auto at = series.find(process_id);
    if (at == series.end() || !at->second.samples.back().compiles)
      series[process_id] = std::move(one);
  }
  Findings findings;
  for (auto& [process_id, one] : series) {
    if (told.contains(process_id) || one.samples.empty()) continue;
    const int64_t seen = rows[process_id];
    int64_t counted = 0;
    for (const Sample& sample : one.samples) counted = sample.compiles.value_or(counted);
    if (seen > 0 && counted <= seen) continue;
    if (one.is_apart) GoOnByCounters(&one);
    std::optional<Finding> finding = one.is_apart ? JudgeApart(one) : Judge(one);
    if (!finding || (seen > 0 && finding->severity == Severity::kInfo)) continue;
    if (seen > 0) std::any_cast<CountFigures&>(finding->figures).compiles_in_profile = seen;
    findings.push_back(std::move(*finding));
  }
  return findings;
}

}  // namespace xlaprof
