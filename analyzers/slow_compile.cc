// Says what XLA itself complained of, and what the first compilation of each place that cuts a
// graph cost and when it is paid back; every later one of that place is recompilation's matter,
// which has its price. One finding for all that is usual, one for each that takes too long.
#include "analyzers/slow_compile.h"

#include <algorithm>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/jax_operation.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "core/base/duration.h"
#include "core/base/source_place.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

// torch_xla's own rule: above this it asks for a bug report with the graph.
constexpr int64_t kTooSlowNs = 300'000'000'000;
// Relative rule, for fast programs: as long as this many steps (a tenth of an epoch of 10,000), and
// long enough for a person to wait.
constexpr int64_t kTooManySteps = 1000;
constexpr int64_t kNoticeableNs = 30'000'000'000;
// What XLA's alarms tell of is a warning from here on: a person waits at the program's start.
constexpr int64_t kLongWaitNs = 10'000'000'000;
// Compilation is paid back when it is no more than this part of the run.
constexpr double kAmortisedShare = 0.05;
constexpr size_t kMaxEvidence = 12;
constexpr double kLongestPercentile =
    90;  // from here on a percentile of few samples is the longest one

struct Compiled {
  int64_t row = 0, ns = 0;
  OptInt ts_ns, trace_ns;
  OptText hash, file, function;
  OptInt nodes, line, program_bytes;
  bool first_of_site = false;
};

bool TooSlow(int64_t ns, std::optional<int64_t> step_ns) {
  return ns > kTooSlowNs ||
         (ns > kNoticeableNs && step_ns && *step_ns > 0 && ns > *step_ns * kTooManySteps);
}

std::optional<CompileSteps> StepsOf(int64_t ns, std::optional<int64_t> step_ns) {
  if (!step_ns || *step_ns <= 0) return {};
  return CompileSteps{.as_long_as = ns / *step_ns,
                      .paid_back = Whole(double(ns) * (1 / kAmortisedShare - 1) / double(*step_ns)),
                      .paid_back_share = kAmortisedShare};
}

TimedCompilation Timed(const Compiled& c) {
  TimedCompilation timed{
      .dur_ns = c.ns, .nodes = c.nodes, .program_bytes = c.program_bytes, .graph_hash = c.hash};
  if (c.file && c.line) timed.place = SourcePlace{*c.file, c.line};
  return timed;
}

// Tracing stands before a compilation, and is the program's matter where it is the larger part.
template <class Figures>
void AddTracing(int64_t trace_ns, int64_t compile_ns, Finding& finding, Figures& figures) {
  constexpr int64_t kLargePart = 4;  // a quarter of what XLA took
  if (trace_ns <= 0) return;
  *finding.cost_ns += trace_ns;
  figures.tracing = {.ns = trace_ns, .is_large = trace_ns >= compile_ns / kLargePart};
  if (trace_ns > compile_ns) figures.remedy = CompileRemedy::kLessTracing;
}

Subject About(const Compiled& c) {
  return {.file = c.file, .line = c.line, .function = c.function, .graph_hash = c.hash};
}

Finding TooSlowOne(const Compiled& c, std::optional<int64_t> step_ns) {
  const bool over_limit = c.ns > kTooSlowNs;
  Finding finding{.severity = Severity::kWarning, .subject = About(c), .count = 1, .cost_ns = c.ns};
  SlowCompilation figures{.compilation = Timed(c), .steps = StepsOf(c.ns, step_ns)};
  finding.reason = Reason{.type = over_limit ? ReasonType::kTooSlow : ReasonType::kManySteps};
  AddTracing(c.trace_ns.value_or(0), c.ns, finding, figures);
  if (over_limit) figures.jax_operation = JaxOperationOf(c.function.value_or(""));
  if (!figures.jax_operation.empty()) figures.remedy = CompileRemedy::kFasterFirstUse;
  finding.evidence = {{.table = "compile", .rows = {c.row}, .ts_ns = c.ts_ns, .dur_ns = c.ns}};
  finding.figures = SlowCompileFigures(std::move(figures));
  return finding;
}

Findings FromRows(std::vector<Compiled> compiles, std::optional<int64_t> step_ns) {
  Findings findings;
  std::stable_sort(compiles.begin(), compiles.end(),
                   [](const Compiled& a, const Compiled& b) { return a.ns > b.ns; });
  Finding usual{.count = 0, .cost_ns = 0};
  FirstCompilations firsts;
  int64_t trace_ns = 0;
  for (const Compiled& c : compiles) {
    if (TooSlow(c.ns, step_ns)) {
      findings.push_back(TooSlowOne(c, step_ns));
      continue;
    }
    if (!c.first_of_site) continue;
    if (*usual.count == 0) usual.subject = About(c);
    ++*usual.count, firsts.compile_ns += c.ns;
    trace_ns += c.trace_ns.value_or(0);
    if (usual.evidence.size() == kMaxEvidence) continue;
    usual.evidence.push_back(
        {.table = "compile", .rows = {c.row}, .ts_ns = c.ts_ns, .dur_ns = c.ns});
    firsts.examples.push_back(Timed(c));
  }
  if (*usual.count == 0) return findings;
  usual.cost_ns = firsts.compile_ns;
  usual.reason = Reason{.type = ReasonType::kFirstCompilations};
  firsts.steps = StepsOf(firsts.compile_ns, step_ns);
  AddTracing(trace_ns, firsts.compile_ns, usual, firsts);
  usual.figures = SlowCompileFigures(std::move(firsts));
  findings.push_back(std::move(usual));
  return findings;
}

Findings FromMetrics(const Metrics& metrics) {
  const MetricState* compile = metrics.last ? metrics.last->Find("CompileTime") : nullptr;
  if (!compile || compile->samples <= 0 || compile->sum <= 0) return {};
  // The longest recent sample, unless the line of percentiles was cut before its end. No sample is
  // below the mean of all.
  const bool knows_longest = !compile->percentiles.empty() &&
                             compile->percentiles.rbegin()->first >= kLongestPercentile &&
                             compile->percentiles.rbegin()->second >= compile->mean() * (1 - 1e-6);
  const double longest = knows_longest ? compile->percentiles.rbegin()->second : compile->mean();
  const bool too_slow = longest > double(kTooSlowNs);
  Finding finding{.severity = too_slow ? Severity::kWarning : Severity::kInfo,
                  .count = compile->samples,
                  .cost_ns = Whole(compile->sum)};
  finding.reason = Reason{.type = too_slow ? ReasonType::kTooSlow : ReasonType::kFirstCompilations};
  finding.evidence = {{.table = "metric", .rows = {compile->id}, .text = "CompileTime"}};
  finding.figures = SlowCompileFigures(
      CompileTimeMetric{.longest_ns = Whole(longest), .longest_is_known = knows_longest});
  return {finding};
}

// "16m18s970ms600.791us" of "...: longest instance took 16m18s970ms600.791us. Please open ...".
int64_t LongestNs(std::string_view line) {
  constexpr std::string_view kBefore = "longest instance took ";
  const size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return 0;
  line = line.substr(at + kBefore.size());
  std::string_view took = line.substr(0, line.find_first_of(" ,;"));
  if (took.ends_with('.')) took.remove_suffix(1);
  return Whole(std::max(0.0, DecodeDurationNs(took).value_or(0)));
}

// torch_xla's own line, where nothing else tells of compile times. It stands in the log again at
// each step, with the longest compilation so far.
absl::StatusOr<Findings> FromLine(const Run& run) {
  struct Line {
    int64_t id = 0;
    std::string text;
  };
  std::map<int64_t, Line, std::greater<>> by_length;  // the last of each
  XP_TRY(
      run.store().Each("SELECT id, text FROM profiler_line WHERE rule = 'compile_slow' ORDER BY id",
                       [&](int64_t id, std::string text) {
                         const int64_t longest_ns = LongestNs(text);
                         by_length[longest_ns] = {id, std::move(text)};
                       }));
  if (by_length.empty()) return Findings();
  const bool has_unread = by_length.contains(0);
  SlowCompileLines figures{.threshold_ns = kTooSlowNs,
                           .lengths = int64_t(by_length.size()) - int64_t(has_unread)};
  if (figures.lengths > 0) {
    figures.longest_ns = by_length.begin()->first;
    figures.shortest_ns = std::prev(by_length.end(), has_unread ? 2 : 1)->first;
  }
  Finding finding{.severity = Severity::kWarning,
                  .cost_ns = figures.longest_ns,
                  .reason = Reason{.type = ReasonType::kTooSlow}};
  for (auto& [ns, line] : by_length) {
    if (finding.evidence.size() == kMaxEvidence) break;
    finding.evidence.push_back({.table = "profiler_line",
                                .rows = {line.id},
                                .dur_ns = ns > 0 ? OptInt(ns) : OptInt(),
                                .text = std::move(line.text)});
  }
  finding.figures = SlowCompileFigures(figures);
  return Findings{std::move(finding)};
}

ReasonType ReasonOf(AlarmKind kind) {
  switch (kind) {
    case AlarmKind::kCompile:
      return ReasonType::kTooSlow;
    case AlarmKind::kUnoptimizedCompile:
      return ReasonType::kUnoptimizedBuild;
    case AlarmKind::kConstantFolding:
      return ReasonType::kConstantFolding;
    case AlarmKind::kAutotuning:
      return ReasonType::kAutotuning;
    case AlarmKind::kOther:
    case AlarmKind::kUnknown:
      return ReasonType::kUnknown;
  }
  return ReasonType::kUnknown;
}

Finding OfAlarms(CompileAlarms alarms) {
  const CompileAlarm& longest = alarms.all.front();
  Finding finding{.subject = longest.subject,
                  .count = int64_t(alarms.all.size()),
                  .cost_ns = alarms.ns,
                  .reason = Reason{.type = ReasonOf(alarms.kind)}};
  SlowCompileAlarms figures{.per_process =
                                int64_t(alarms.all.size() / alarms.ns_by_process.size())};
  const bool is_compile = alarms.kind == AlarmKind::kCompile;
  const bool is_instruction =
      alarms.kind == AlarmKind::kConstantFolding || alarms.kind == AlarmKind::kAutotuning;
  if (is_instruction) finding.reason->node = longest.name;
  if (is_compile || alarms.kind == AlarmKind::kUnoptimizedCompile) {
    finding.severity = Severity::kWarning;
    finding.subject.function = longest.name;
  }
  if (is_compile) figures.jax_operation = JaxOperationOf(longest.name.value_or(""));
  if (alarms.ns >= kLongWaitNs) finding.severity = Severity::kWarning;
  for (const CompileAlarm& alarm : alarms.all) {
    if (finding.evidence.size() == kMaxEvidence) break;
    finding.evidence.push_back({.table = "compile_alarm",
                                .rows = {alarm.row},
                                .dur_ns = alarm.ended ? OptInt(alarm.ns) : OptInt()});
  }
  figures.alarms = std::move(alarms);
  finding.figures = SlowCompileFigures(std::move(figures));
  return finding;
}

absl::StatusOr<Findings> FindSlowCompile(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  // The first compilation of each graph that has a length; without a graph each is its own.
  XP_TRY(std::vector<Compiled> compiles,
         run.store().Collect(
             "SELECT c.id, c.dur_ns, c.ts_ns, c.trace_ns, g.hash, (SELECT node_count FROM graph n "
             "WHERE (n.id "
             "= g.id OR "
             "(g.hash IS NOT NULL AND n.hash = g.hash)) AND node_count IS NOT NULL "
             "ORDER BY printed_as IN ('ir_text', 'ir_dot') DESC, node_count DESC LIMIT 1), "
             "c.program_bytes, s.file, s.line, "
             "coalesce(c.function, s.function), nth_of_site = 1 FROM (SELECT *, row_number() OVER "
             "(PARTITION BY process_id, "
             "coalesce((SELECT hash FROM graph WHERE id = graph_id), 'graph ' || graph_id, "
             "'compile ' || id) "
             "ORDER BY ordinal) AS nth, row_number() OVER (PARTITION BY process_id, site_id, "
             "cause, function ORDER BY ordinal) "
             "AS nth_of_site FROM main.compile) c LEFT JOIN graph g ON g.id = c.graph_id "
             "LEFT JOIN site s ON s.id = c.site_id WHERE nth = 1 AND c.dur_ns IS NOT NULL AND c.id "
             "IN (SELECT id FROM compile) ORDER BY c.id",
             [](int64_t id, int64_t ns, OptInt ts_ns, OptInt trace_ns, OptText hash, OptInt nodes,
                OptInt bytes, OptText file, OptInt line, OptText function, bool first_of_site) {
               return Compiled{id,       ns,    ts_ns, trace_ns, hash,         file,
                               function, nodes, line,  bytes,    first_of_site};
             }));
  absl::StatusOr<Findings> measured;
  if (!compiles.empty()) {
    measured = FromRows(std::move(compiles), Median(steps->steady_ns));
  } else {
    XP_TRY(const Metrics* metrics, run.Get<Metrics>());
    measured = FromMetrics(*metrics);
  }
  if (!measured.ok()) return measured;
  const bool timed = !measured->empty();
  if (!timed) measured = FromLine(run);
  if (!measured.ok()) return measured;
  XP_TRY(std::vector<CompileAlarms> alarms, LoadCompileAlarms(run, timed));
  Findings findings;
  for (CompileAlarms& of_kind : alarms) findings.push_back(OfAlarms(std::move(of_kind)));
  std::move(measured->begin(), measured->end(), std::back_inserter(findings));
  return findings;
}

}  // namespace

extern const Analyzer slow_compile{.name = "slow_compile",
                                   .summary = "what compiling costs, and when it is paid back",
                                   .meaning =
                                       "Compiling is a large part of the run, or one "
                                       "compilation takes very long. A program compiles "
                                       "each graph once, so the finding says after how many "
                                       "steps that is paid back, and what XLA itself "
                                       "complained of.",
                                   .looks_at = "compilations with times, else CompileTime",
                                   .find = FindSlowCompile,
                                   .say = SaySlowCompile,
                                   .needs = Needs::kTimelineOrCompileTimes,
                                   .is_paid_once = true};

}  // namespace xlaprof
