// What a clean program compiles is taken off first: each of its cuts compiles in the first step and
// again in the second (state that the first step made is then an input), and its set-up once. How
// many cuts a step has follows from the number of executions.
#include "analyzers/recompile/recompile_counts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analyzers/quantity.h"
#include "analyzers/recompile/recompile_state.h"
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
  std::string table, what;  // "metrics_report", "the metrics reports"
  std::vector<Sample> samples;
  bool is_cut = false;    // what it lacks may stand in a part that is missing
  bool is_apart = false;  // no sample goes on from the one before it
};

using SeriesOfSources = std::map<std::pair<int64_t, int64_t>, Series>;  // by process and source

// What the import found odd in their sources.
absl::Status TakeIssues(const Store& store, SeriesOfSources& by_source) {
  std::map<int64_t, int64_t> go_on;  // reports of a source with one of their process before them
  for (const auto& [key, series] : by_source)
    go_on[key.second] += static_cast<int64_t>(series.samples.size()) - 1;
  return store.Each(
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

absl::StatusOr<std::map<int64_t, Series>> LoadMetrics(const Store& store) {
  SeriesOfSources by_source;
  std::map<int64_t, Sample*> by_report;
  XP_TRY(store.Each(
      "SELECT id, coalesce(process_id, 0), source_id, mark_step, save_number + 1 FROM "
      "metrics_report ORDER BY 2, source_id, ordinal",
      [&](int64_t id, int64_t process_id, int64_t source_id, OptInt mark_step, OptInt saves) {
        by_source[{process_id, source_id}].samples.push_back(
            {.row = id, .steps = mark_step, .saves = saves});
      }));
  for (auto& [key, series] : by_source) {
    for (Sample& sample : series.samples) by_report[sample.row] = &sample;
  }
  XP_TRY(store.Each(
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
  XP_TRY(
      store.Each("SELECT report_id, name, value FROM counter WHERE name IN ('UncachedCompile', "
                 "'CachedCompile', 'MarkStep')",
                 [&](int64_t report, std::string_view name, int64_t value) {
                   const auto at = by_report.find(report);
                   if (at == by_report.end()) return;
                   if (name == "MarkStep" && !at->second->steps) at->second->steps = value;
                   if (name == "UncachedCompile")
                     at->second->compiles = at->second->counted_compiles = value;
                   if (name == "CachedCompile") at->second->cached = value;
                 }));
  XP_TRY(TakeIssues(store, by_source));
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
    series.what = series.samples.size() == 1
                      ? "one metrics report"
                      : fmt::format("{} metrics reports", series.samples.size());
    Series& kept = best[key.first];
    if (series.samples.size() > kept.samples.size()) kept = std::move(series);
  }
  return best;
}

absl::StatusOr<std::map<int64_t, Series>> LoadLines(const Store& store) {
  std::map<int64_t, Series> lines;
  XP_TRY(store.Each(
      "SELECT id, coalesce(process_id, 0), samples, steps FROM profiler_line WHERE rule = "
      "'compile_frequent' "
      "AND samples IS NOT NULL AND steps IS NOT NULL ORDER BY 2, ordinal",
      [&](int64_t id, int64_t process_id, int64_t samples, int64_t steps) {
        lines[process_id].samples.push_back({.row = id, .steps = steps, .compiles = samples});
      }));
  for (auto& [process_id, series] : lines) {
    series.table = "profiler_line";
    series.what = series.samples.size() == 1
                      ? "one \"CompileTime too frequent\" line"
                      : fmt::format("{} \"CompileTime too frequent\" lines", series.samples.size());
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

// What two reports tell that one can't: the compiles between them.
struct Between {
  int64_t before = 0, more = 0;  // compiles up to the earlier report, and since
  OptInt since_step;             // of the earlier
};

std::optional<Between> LastInterval(const std::vector<Sample>& samples) {
  if (samples.size() < 2 || !samples.back().compiles) return std::nullopt;
  OptInt before;  // a report leaves out what did not change
  for (size_t i = 0; i + 1 < samples.size(); ++i) {
    if (samples[i].compiles) before = samples[i].compiles;
  }
  if (!before || *samples.back().compiles < *before) return std::nullopt;
  return Between{*before, *samples.back().compiles - *before, samples[samples.size() - 2].steps};
}

std::string Title(int64_t compiles, int64_t steps, OptInt executions) {
  std::string title = Plural(compiles, "compile");
  if (steps > 0) return title + " in " + Plural(steps, "step");
  return executions ? title + " in " + Plural(*executions, "execution") : title;
}

// Numbers of a hostile or damaged report, made harmless.
void Bound(Sample& sample) {
  for (OptInt* value : {&sample.steps, &sample.saves, &sample.compiles, &sample.executions,
                        &sample.compile_ns, &sample.execute_ns, &sample.cached, &sample.uploads}) {
    if (*value) **value = std::clamp<int64_t>(**value, 0, kMostCounted);
  }
}

std::optional<Finding> Judge(Series series) {
  for (Sample& sample : series.samples) Bound(sample);
  Sample last = series.samples.back();
  for (const Sample& sample : series.samples) {  // the last one that says it
    if (!series.samples.back().compiles && sample.compiles) last.compiles = sample.compiles;
    if (!series.samples.back().executions && sample.executions) last.executions = sample.executions;
    // A time goes with its count: one that was cut off is not an earlier one's.
    if (!series.samples.back().compiles && sample.compile_ns) last.compile_ns = sample.compile_ns;
    if (!series.samples.back().executions && sample.execute_ns) last.execute_ns = sample.execute_ns;
  }
  if (!last.compiles || *last.compiles == 0) return std::nullopt;
  const int64_t compiles = *last.compiles, steps = last.steps.value_or(0);
  int64_t cuts = 1;
  if (steps > 0 && last.executions)
    cuts = std::max<int64_t>(1, (*last.executions + steps / 2) / steps);
  cuts = std::min({cuts, compiles, kMostPlaced});
  const int64_t clean = kWarmUpSteps * cuts + 1;
  const double per_step =
      steps > 0 ? static_cast<double>(compiles) / static_cast<double>(steps) : 0;
  // Of the executions, where no steps are known: at most the rate by the step.
  const double new_share =
      last.executions && *last.executions > 0
          ? static_cast<double>(compiles) / static_cast<double>(*last.executions)
          : 0;

  std::vector<int64_t> when = StepsOfCompiles(series.samples);
  when.erase(when.begin(),
             when.begin() + std::min<int64_t>(cuts, static_cast<int64_t>(when.size())));
  RecompileState state{.word = State::kUnknown};
  const bool windows = series.samples.size() >= kSeries && !when.empty();
  if (windows) state = StateInWindows(series.samples, when, steps);
  const std::optional<Between> between = windows ? std::nullopt : LastInterval(series.samples);
  const bool quiet = between && between->more == 0 && between->since_step &&
                     steps - *between->since_step >= std::max<int64_t>(1, steps / 4);

  const int64_t again = std::max<int64_t>(0, compiles - cuts);
  const double busy =
      static_cast<double>(last.compile_ns.value_or(0) + last.execute_ns.value_or(0));
  const double share = busy > 0 ? static_cast<double>(last.compile_ns.value_or(0)) / busy : 0;

  const bool beyond = compiles - clean >= kBeyondClean;
  Severity severity = Severity::kInfo;
  if (windows && state.word != State::kUnknown) {
    const bool early = state.step && 4 * *state.step < steps;
    if (state.word == State::kOngoing || state.word == State::kBurst) severity = Severity::kWarning;
    if (state.word == State::kSettled && state.after_warm_up > kBeyondClean && !early)
      severity = Severity::kWarning;
  } else if (quiet) {
    if (beyond) state.word = State::kSettled, state.step = between->since_step;
  } else if (beyond && steps > 0) {
    const bool often = per_step > kOftenPerStep ||
                       (share > kLargeTimeShare && compiles - clean >= kManyBeyondClean);
    // Without executions, the cuts of a step are unknown, and each may have its graphs.
    const bool sure = last.executions || per_step >= kMostAreNew ||
                      (per_step > kOftenPerStep && compiles >= kManyGraphs);
    if (often && sure) severity = Severity::kWarning;
  } else if (beyond) {
    const bool most = new_share >= kMostAreNew && compiles >= kManyCompiles;
    const bool many =
        new_share > kOftenPerStep && compiles >= kManyGraphs && share > kLargeTimeShare;
    const bool rises = between && between->more > 0 && between->before - clean >= kBeyondClean;
    if (most || many || rises) severity = Severity::kWarning;
  }
  // Whoever pastes a report asks whether it recompiles: "no" is an answer.
  const bool clears = steps > kWarmUpSteps && !beyond;
  if (severity == Severity::kInfo && again == 0 && !clears) return std::nullopt;
  if (severity == Severity::kInfo && !beyond && state.word != State::kWarmUp &&
      share <= kLargeTimeShare && !clears)
    return std::nullopt;

  Finding finding{.severity = severity, .count = again};
  if (steps > 0) finding.per_step = static_cast<double>(again) / static_cast<double>(steps);
  finding.title = Title(compiles, steps, last.executions);
  finding.advice = "Nothing to do for recompilation.";
  if (severity != Severity::kInfo) {
    if (steps > 0) {
      finding.title += fmt::format(": a clean program with {} a step makes about {}",
                                   Plural(cuts, "graph"), clean);
    } else if (new_share >= kMostAreNew) {
      finding.title += ": most executions ran a graph that was compiled for them";
    } else {
      finding.title += ": more graphs than a program without recompilation has";
    }
    finding.advice =
        "To learn which line and why, run again with PT_XLA_DEBUG_LEVEL=2 "
        "PT_XLA_DEBUG_FILE=debug.log "
        "XLA_IR_DEBUG=1 XLA_HLO_DEBUG=1 XLA_SAVE_TENSORS_FILE=ir.txt XLA_SAVE_TENSORS_FMT=hlo, or "
        "record a "
        "profile of some of these steps.";
    if (last.compile_ns) finding.cost_ns = *last.compile_ns / compiles * again;
  } else if (quiet) {
    finding.title += fmt::format(", none after step {}", *between->since_step);
  } else if (steps == 0) {
    const bool few = new_share > 0 && new_share <= kOftenPerStep;
    finding.title += !beyond ? ": no more than a clean program makes in its first steps"
                     : few   ? ": few for so many executions"
                             : ": in how many steps is not told, so it may be recompilation or not";
    finding.advice =
        "Report on an XLA_METRICS_FILE, which has a report of each step, to see whether it goes on "
        "compiling.";
  } else if (beyond && !last.executions) {
    finding.title +=
        "; executions are not told, so it may be recompilation or several graphs a step";
    finding.advice =
        "Compare with a later report: a program that does not recompile compiles no more after "
        "its first steps.";
  } else if (beyond) {
    finding.title += ": more than a clean program makes, but few a step";
  } else if (series.is_cut && !last.compile_ns) {
    finding.title += " by the counters: as many as a clean program makes at first";
  } else {
    finding.title = fmt::format(
        "it is not recompilation: {}, as many as a clean program makes at first", finding.title);
  }
  if (finding.cost_ns) {
    finding.cost_note = fmt::format(
        "mean of CompileTime ({:.2f} s in all) times {} compiles after the first of each graph",
        static_cast<double>(*last.compile_ns) / 1e9, again);
  } else {
    finding.cost_note =
        last.compile_ns ? "not counted: these may be the first compilations, see slow_compile"
        : series.is_cut ? "unmeasured: CompileTime may stand in the part that is missing"
                        : "unmeasured: no CompileTime metric";
  }
  Reason reason{.type = ReasonType::kUnknown, .state = state.word, .step = state.step};
  reason.text =
      windows
          ? fmt::format(
                "Only counts are there ({}): neither the graphs nor the lines that made them.",
                series.what)
          : fmt::format("Only counts are there ({}): they do not tell when it compiled, nor why.",
                        series.what);
  if (between) {
    *reason.text += between->more > 0 ? fmt::format(" Between the last two it rose from {} to {}.",
                                                    between->before, compiles)
                                      : " Between the last two it did not rise.";
  }
  finding.reason = std::move(reason);
  finding.evidence.push_back({.table = series.table, .rows = {last.row}, .text = series.what});
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
                                        .what = fmt::format("one of {} metrics reports", reports),
                                        .samples = {worst},
                                        .is_cut = series.is_cut});
  if (!often || (!one_process && alone && alone->severity != Severity::kInfo)) return alone;
  Finding finding{.severity = one_process ? Severity::kWarning : Severity::kInfo,
                  .count = again};
  const std::string title = Title(*total.compiles, total.steps.value_or(0), total.executions);
  finding.title = fmt::format(
      "{}, in {} separate reports: {}", title, reports,
      one_process ? "it goes on compiling"
                  : "one process goes on compiling, or each compiled in its first steps");
  if (total.steps.value_or(0) > 0)
    finding.per_step = static_cast<double>(again) / static_cast<double>(*total.steps);
  if (one_process && total.compile_ns) {
    finding.cost_ns = *total.compile_ns / *total.compiles * again;
    finding.cost_note = "mean of CompileTime times the compiles behind the first report";
  } else {
    finding.cost_note = "unmeasured: which compiles are of one process is not told";
  }
  finding.advice =
      "Print the report without met.clear_all() before it, or set XLA_METRICS_FILE, to see whether "
      "CompileTime goes on rising. To learn which line and why, run again with "
      "PT_XLA_DEBUG_LEVEL=2 PT_XLA_DEBUG_FILE=debug.log.";
  finding.reason = Reason{
      .type = ReasonType::kUnknown,
      .state = State::kUnknown,
      .text =
          "Only counts are there, in reports that do not go on from one another: the metrics "
          "were cleared in between, or several processes wrote them."};
  finding.evidence.push_back({.table = series.table, .rows = {worst.row}, .text = series.what});
  return finding;
}

}  // namespace

absl::StatusOr<Findings> FromCounts(const Store& store, const std::set<int64_t>& told) {
  // Counts have no clock: they are the whole run's.
  if (store.slice().is_part_of_time()) return Findings();
  std::map<int64_t, int64_t> rows;
  XP_TRY(store.Each("SELECT coalesce(process_id, 0), count(*) FROM compile GROUP BY 1",
                    [&](int64_t process_id, int64_t count) { rows[process_id] = count; }));
  XP_TRY(auto series, LoadMetrics(store));
  XP_TRY(auto lines, LoadLines(store));
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
    if (seen > 0 && finding->reason) {
      finding->reason->text = fmt::format(
          "Only {} of these compiles {} inside the profile; the others are only counted.", seen,
          seen == 1 ? "lies" : "lie");
    }
    findings.push_back(std::move(*finding));
  }
  return findings;
}

}  // namespace xlaprof
