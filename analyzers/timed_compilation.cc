#include "analyzers/timed_compilation.h"

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/run/metrics.h"
#include "base/metric_names.h"
#include "base/whole.h"

namespace xlaprof {
TimedCompilation Timed(const FirstCompilation& c) {
  TimedCompilation timed{
      .dur_ns = c.ns, .nodes = c.nodes, .program_bytes = c.program_bytes, .graph_hash = c.hash};
  if (c.file && c.line) timed.place = SourcePlace{*c.file, c.line};
  return timed;
}

TracingBefore TracingOf(int64_t trace_ns, int64_t compile_ns) {
  return {.ns = trace_ns,
          .is_large = trace_ns > 0 && trace_ns >= compile_ns / policy::kTracingPartOfCompile};
}

std::optional<CompileSteps> StepsAsLongAs(int64_t ns, OptInt step_ns) {
  if (!step_ns || *step_ns <= 0) return {};
  return CompileSteps{
      .as_long_as = ns / *step_ns,
      .paid_back = Whole(double(ns) * (1 / policy::kAmortisedShare - 1) / double(*step_ns)),
      .paid_back_share = policy::kAmortisedShare};
}

Subject About(const FirstCompilation& c) {
  return {.file = c.file, .line = c.line, .function = c.function, .graph_hash = c.hash};
}

bool IsTooSlow(int64_t ns, OptInt step_ns) {
  return ns > policy::kSlowCompileNs || (ns > policy::kNoticeableCompileNs && step_ns &&
                                         *step_ns > 0 && ns > *step_ns * policy::kCompileSteps);
}

absl::StatusOr<std::optional<CompileTimeSum>> CompileTimeOf(const Run& run) {
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  const MetricState* compile =
      metrics->last ? metrics->last->Find(metric_names::kCompileTime) : nullptr;
  if (!compile || compile->samples <= 0 || compile->sum <= 0) return std::nullopt;
  // The last percentile is the longest recent sample, unless the line of percentiles was cut. The
  // longest sample cannot be below the mean.
  const bool knows_longest = !compile->percentiles.empty() &&
                             compile->percentiles.rbegin()->first >= policy::kLongestPercentile &&
                             compile->percentiles.rbegin()->second >= compile->mean() * (1 - 1e-6);
  const double longest = knows_longest ? compile->percentiles.rbegin()->second : compile->mean();
  return CompileTimeSum{.row = compile->id,
                        .samples = compile->samples,
                        .ns = Whole(compile->sum),
                        .longest_ns = Whole(longest),
                        .longest_is_known = knows_longest,
                        .is_too_slow = longest > double(policy::kSlowCompileNs)};
}

}  // namespace xlaprof
