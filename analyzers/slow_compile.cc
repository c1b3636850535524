// Says what XLA itself complained of, and what the first compilation of each place that cuts a
// graph cost and when it is paid back; every later one of that place is recompilation's matter,
// which has its price. One finding for all that is usual, one for each that takes too long.
#include <algorithm>
#include <map>

#include "analyzers/activity/steps.h"
#include "analyzers/analyzer.h"
#include "analyzers/evidence/compile_alarms.h"
#include "analyzers/evidence/jax_operation.h"
#include "analyzers/evidence/metrics.h"
#include "analyzers/quantity.h"
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

std::string Amortised(int64_t ns, std::optional<int64_t> step_ns) {
  if (!step_ns || *step_ns <= 0) return "";
  const int64_t steps = ns / *step_ns;
  return fmt::format("as long as {}; under {:.0f} % of the run after {} steps",
                     Plural(steps, "steady step"), 100 * kAmortisedShare,
                     Whole(double(ns) * (1 / kAmortisedShare - 1) / double(*step_ns)));
}

std::string Describe(const Compiled& c) {
  std::string out = DurationText(c.ns);
  if (c.nodes) out += fmt::format(", {} nodes", *c.nodes);
  if (c.program_bytes.value_or(0) > 0)
    out += fmt::format(", program of {}", BytesText(double(*c.program_bytes)));
  if (c.hash) out += fmt::format(", graph {}", *c.hash);
  if (c.file && c.line) out += ", " + SourcePlace{*c.file, c.line}.text();
  return out;
}

constexpr const char* kAdvice =
    "Keep the compilation cache between runs (torch_xla: xr.initialize_cache, JAX: "
    "jax_compilation_cache_dir); make the "
    "graph smaller (scan over repeated layers).";
constexpr const char* kTracingAdvice =
    "Most of it is Python, which runs anew in each process: a persistent cache does not save it. "
    "Write loops over layers or steps as jax.lax.scan or jax.lax.fori_loop, so that their body is "
    "traced once, and make constants with jax.numpy outside of the function.";

// Tracing stands before a compilation, and is the program's matter where it is the larger part.
void AddTracing(int64_t trace_ns, int64_t compile_ns, Finding& finding) {
  constexpr int64_t kWorthAWord = 4;  // of a title: a quarter of what XLA took
  if (trace_ns <= 0) return;
  *finding.cost_ns += trace_ns;
  finding.cost_note +=
      fmt::format("; {} of it is tracing and lowering on the host", DurationText(trace_ns));
  if (trace_ns >= compile_ns / kWorthAWord)
    finding.title += fmt::format(", and {} of tracing before {}", DurationText(trace_ns),
                                 finding.count == 1 ? "it" : "them");
  if (trace_ns > compile_ns) finding.advice = kTracingAdvice;
}

Subject About(const Compiled& c) {
  return {.file = c.file, .line = c.line, .function = c.function, .graph_hash = c.hash};
}

absl::StatusOr<Findings> FromRows(const Store& store, std::vector<Compiled> compiles,
                                  std::optional<int64_t> step_ns) {
  Findings findings;
  std::stable_sort(compiles.begin(), compiles.end(),
                   [](const Compiled& a, const Compiled& b) { return a.ns > b.ns; });
  Finding usual{.count = 0, .cost_ns = 0};
  int64_t usual_trace_ns = 0;
  for (const Compiled& c : compiles) {
    const Evidence evidence{
        .table = "compile", .rows = {c.row}, .ts_ns = c.ts_ns, .dur_ns = c.ns, .text = Describe(c)};
    if (!TooSlow(c.ns, step_ns)) {
      if (!c.first_of_site) continue;
      if (*usual.count == 0) usual.subject = About(c);
      ++*usual.count, *usual.cost_ns += c.ns;
      usual_trace_ns += c.trace_ns.value_or(0);
      if (usual.evidence.size() < kMaxEvidence) usual.evidence.push_back(evidence);
      continue;
    }
    Finding finding{.severity = Severity::kWarning,
                    .title = fmt::format("compiling took {}", Describe(c)),
                    .subject = About(c),
                    .count = 1,
                    .cost_ns = c.ns,
                    .cost_note = "the graph's first compilation",
                    .advice = kAdvice,
                    .evidence = {evidence}};
    finding.reason =
        Reason{.type = c.ns > kTooSlowNs ? ReasonType::kTooSlow : ReasonType::kManySteps,
               .text = Amortised(c.ns, step_ns)};
    AddTracing(c.trace_ns.value_or(0), c.ns, finding);
    const std::string operation = JaxOperationOf(c.function.value_or(""));
    if (c.ns > kTooSlowNs && !operation.empty()) {
      finding.reason->text = OneOperationText(operation);
      finding.advice = kOneOperationAdvice;
    }
    findings.push_back(std::move(finding));
  }
  if (*usual.count > 0) {
    usual.title = *usual.count == 1
                      ? fmt::format("the first compilation took {}", DurationText(*usual.cost_ns))
                      : fmt::format("the first compilations of {} places took {}, the slowest {}",
                                    CountText(*usual.count), DurationText(*usual.cost_ns),
                                    DurationText(*usual.evidence.front().dur_ns));
    usual.cost_note = "the first compilation of each place; later ones are with recompilation";
    usual.reason =
        Reason{.type = ReasonType::kFirstCompilations, .text = Amortised(*usual.cost_ns, step_ns)};
    usual.advice = kAdvice;
    AddTracing(usual_trace_ns, *usual.cost_ns, usual);
    findings.push_back(std::move(usual));
  }
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
                  .cost_ns = Whole(compile->sum),
                  .cost_note = "CompileTime's exact sum",
                  .advice = kAdvice};
  finding.title = fmt::format("{} took {}", Plural(compile->samples, "compilation"),
                              DurationText(Whole(compile->sum)));
  if (compile->samples > 1)
    finding.title += fmt::format(", {} {}", knows_longest ? "the longest" : "on average",
                                 DurationText(Whole(longest)));
  finding.reason = Reason{
      .type = too_slow ? ReasonType::kTooSlow : ReasonType::kFirstCompilations,
      .text = "Metrics do not tell graphs apart; a debug log (PT_XLA_DEBUG_LEVEL=1) names them."};
  finding.evidence = {{.table = "metric", .rows = {compile->id}, .text = "CompileTime"}};
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
absl::StatusOr<Findings> FromLine(const Store& store) {
  struct Line {
    int64_t id = 0;
    std::string text;
  };
  std::map<int64_t, Line, std::greater<>> by_length;  // the last of each
  XP_TRY(store.Each("SELECT id, text FROM profiler_line WHERE rule = 'compile_slow' ORDER BY id",
                    [&](int64_t id, std::string text) {
                      const int64_t longest_ns = LongestNs(text);
                      by_length[longest_ns] = {id, std::move(text)};
                    }));
  Findings findings;
  if (by_length.empty()) return findings;
  const int64_t longest_ns = by_length.begin()->first;
  const size_t lengths = by_length.size() - size_t(by_length.contains(0));
  Finding finding{.severity = Severity::kWarning, .advice = kAdvice};
  if (longest_ns > 0) {
    finding.title = fmt::format("a compilation took {}", DurationText(longest_ns));
    if (lengths > 1) {
      const auto shortest = std::prev(by_length.end(), by_length.contains(0) ? 2 : 1);
      finding.title = fmt::format("at least {} compilations took {} to {} each", lengths,
                                  DurationText(shortest->first), DurationText(longest_ns));
    }
    finding.cost_ns = longest_ns;
    finding.cost_note =
        "at least; the longest that torch_xla's own lines tell of, which do not tell how many "
        "there were";
  } else {
    finding.title = fmt::format("a compilation took over {}", DurationText(kTooSlowNs));
    finding.cost_note = "unmeasured: only torch_xla's own line tells of it";
  }
  finding.reason =
      Reason{.type = ReasonType::kTooSlow,
             .text = "The line names no graph; a debug log (PT_XLA_DEBUG_LEVEL=1) does."};
  for (auto& [ns, line] : by_length) {
    if (finding.evidence.size() == kMaxEvidence) break;
    finding.evidence.push_back({.table = "profiler_line",
                                .rows = {line.id},
                                .dur_ns = ns > 0 ? OptInt(ns) : OptInt(),
                                .text = std::move(line.text)});
  }
  findings.push_back(std::move(finding));
  return findings;
}

absl::StatusOr<Findings> Run(const Store& store) {
  XP_TRY(Steps steps, LoadSteps(store));
  // The first compilation of each graph that has a length; without a graph each is its own.
  XP_TRY(std::vector<Compiled> compiles,
         store.Collect(
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
    measured = FromRows(store, std::move(compiles), Median(steps.steady_ns));
  } else {
    XP_TRY(Metrics metrics, LoadMetrics(store));
    measured = FromMetrics(metrics);
  }
  if (!measured.ok()) return measured;
  const bool timed = !measured->empty();
  if (!timed) measured = FromLine(store);
  if (!measured.ok()) return measured;
  XP_TRY(Findings findings, FindCompileAlarms(store, timed));
  std::move(measured->begin(), measured->end(), std::back_inserter(findings));
  return findings;
}

}  // namespace

extern const Analyzer slow_compile{
    .name = "slow_compile",
    .summary = "what compiling costs, and when it is paid back",
    .looks_at = "compilations with times, else CompileTime",
    .run = Run,
    .needs = Needs::kTimelineOrCompileTimes,
    .is_paid_once = true};

}  // namespace xlaprof
