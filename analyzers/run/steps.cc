#include "analyzers/run/steps.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzers/policy.h"
#include "analyzers/run/launches.h"
#include "analyzers/run/metrics.h"

namespace xlaprof {
namespace {

Interval TimeOf(const StepSpan& step) { return {*step.ts_ns, *step.ts_ns + *step.dur_ns}; }

absl::Status MarkCut(const Run& run, std::vector<StepSpan>& steps) {
  for (size_t i = 1; i < steps.size(); ++i) {
    StepSpan &before = steps[i - 1], &last = steps[i];
    const bool is_last = i + 1 == steps.size() || steps[i + 1].process_id != last.process_id;
    if (!is_last || before.process_id != last.process_id || !last.ts_ns || !last.dur_ns ||
        !before.ts_ns || !before.dur_ns)
      continue;
    XP_TRY(auto name, run.store().One<std::string>("SELECT name FROM step WHERE id = ?1", last.id));
    if (!name || !name->starts_with("ProfilerStep")) continue;
    XP_TRY(const bool launches, LaunchesDuring(run, last.process_id, TimeOf(last)));
    XP_TRY(const bool launched, LaunchesDuring(run, before.process_id, TimeOf(before)));
    last.cut = launched && !launches;
  }
  return absl::OkStatus();
}

}  // namespace

std::optional<int64_t> Median(const std::vector<int64_t>& sorted) {
  if (sorted.empty()) return {};
  const size_t middle = sorted.size() / 2;
  if (sorted.size() % 2 == 1) return sorted[middle];
  return sorted[middle - 1] + (sorted[middle] - sorted[middle - 1]) / 2;
}

std::optional<int64_t> NearestRank(const std::vector<int64_t>& sorted, double p) {
  if (sorted.empty()) return {};
  const double rank = std::ceil(p / 100 * double(sorted.size()));
  return sorted[size_t(std::clamp(rank, 1.0, double(sorted.size()))) - 1];
}

std::optional<Interval> Steps::SteadyWindow(int64_t process_id) const {
  std::optional<Interval> out;
  for (const StepSpan& step : all) {
    if (step.process_id != process_id || !step.steady()) continue;
    if (!out) out = Interval{*step.ts_ns, *step.ts_ns};
    out->begin_ns = std::min(out->begin_ns, *step.ts_ns);
    out->end_ns = std::max(out->end_ns, *step.ts_ns + *step.dur_ns);
  }
  return out;
}

int64_t Steps::Timed(int64_t process_id) const {
  return std::ranges::count_if(all, [&](const StepSpan& step) {
    return step.process_id == process_id && step.ts_ns && step.dur_ns;
  });
}

int64_t Steps::TimedSteady(int64_t process_id) const {
  return std::count_if(all.begin(), all.end(), [&](const StepSpan& step) {
    return step.process_id == process_id && step.steady();
  });
}

absl::StatusOr<Steps> Steps::Of(const Run& run) {
  const Store& store = run.store();
  Steps steps;
  XP_TRY(
      steps.all,
      store.Collect("SELECT id, coalesce(process_id, 0), ordinal, ts_ns, dur_ns FROM step "
                    "ORDER BY coalesce(process_id, 0), ordinal, id",
                    [](int64_t id, int64_t process, int64_t ordinal, OptInt ts_ns, OptInt dur_ns) {
                      return StepSpan{id, process, ordinal, ts_ns, dur_ns};
                    }));
  XP_TRY(MarkCut(run, steps.all));
  std::set<int64_t> compiling;
  std::map<int64_t, std::vector<int64_t>> compile_ts;  // by process, of compiles without a step
  XP_TRY(store.Each("SELECT step_id, coalesce(process_id, 0), ts_ns FROM compile",
                    [&](OptInt step, int64_t process, OptInt ts_ns) {
                      if (step) {
                        compiling.insert(*step);
                      } else if (ts_ns) {
                        compile_ts[process].push_back(*ts_ns);
                      }
                    }));
  for (auto& [process, ts] : compile_ts) std::sort(ts.begin(), ts.end());
  for (StepSpan& step : steps.all) {
    step.compiles = compiling.contains(step.id);
    if (step.compiles || !step.ts_ns || !step.dur_ns) continue;
    const std::vector<int64_t>& ts = compile_ts[step.process_id];
    auto first = std::lower_bound(ts.begin(), ts.end(), *step.ts_ns);
    step.compiles = first != ts.end() && *first < *step.ts_ns + *step.dur_ns;
  }
  size_t most = 0;
  for (size_t begin = 0; begin < steps.all.size();) {
    size_t end = begin, leading = begin;
    while (end < steps.all.size() && steps.all[end].process_id == steps.all[begin].process_id)
      ++end;
    while (leading < end && steps.all[leading].compiles) ++leading;
    const size_t allowed = size_t(std::max<int64_t>(
        policy::kMinWarmUpSteps, int64_t(policy::kMaxWarmUpShare * double(end - begin))));
    leading = std::min(leading, begin + allowed);
    for (size_t i = begin; i < leading; ++i) steps.all[i].warm_up = true;
    if (end - begin > most) {
      most = end - begin;
      steps.warm_up = int64_t(leading - begin);
    }
    begin = end;
  }
  for (const StepSpan& step : steps.all) {
    if (!step.ts_ns || !step.dur_ns) continue;
    ++steps.timed;
    if (step.cut) continue;
    (step.warm_up ? steps.warm_up_ns : steps.steady_ns).push_back(*step.dur_ns);
  }
  std::sort(steps.steady_ns.begin(), steps.steady_ns.end());
  std::sort(steps.warm_up_ns.begin(), steps.warm_up_ns.end());
  return steps;
}

bool IsOften(int64_t count, std::optional<double> per_step) {
  return per_step ? *per_step >= policy::kOftenPerStep && count >= policy::kNotOnce
                  : count >= policy::kOftenWithoutSteps;
}

bool IsInEveryStep(std::optional<double> per_step) {
  return per_step.value_or(0) >= policy::kEveryStep;
}

absl::StatusOr<StepCounts> StepCounts::Of(const Run& run) {
  const Store& store = run.store();
  StepCounts counts;
  XP_TRY(counts.all, store.One<int64_t>("SELECT nullif(count(*), 0) FROM step"));
  if (!counts.all) {
    XP_TRY(const Metrics* metrics, run.Get<Metrics>());
    if (metrics->last && metrics->last->mark_step.value_or(0) > 0)
      counts.all = metrics->last->mark_step;
  }
  if (!counts.all) {
    XP_TRY(counts.all, store.One<int64_t>("SELECT max(steps) FROM profiler_line"));
  }
  XP_TRY(store.Each(
      "SELECT coalesce(process_id, 0), count(*) FROM step GROUP BY 1",
      [&](int64_t process_id, int64_t count) { counts.by_process[process_id] = count; }));
  return counts;
}

}  // namespace xlaprof
