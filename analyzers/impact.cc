#include "analyzers/impact.h"

#include <algorithm>

#include "analyzers/kinds.h"
#include "analyzers/policy.h"
#include "analyzers/recompilation.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/work_unit.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

bool GoesOn(const Finding& finding) {
  if (finding.may_be_once) return false;
  return !finding.reason || finding.reason->state.value_or(State::kOngoing) == State::kOngoing;
}

// Returns whether a place that still compiles at the end of the run took most of the time in which its
// compiles lie. That can be avoided, even if it is not known how.
bool KeepsCompiling(const Finding& finding) {
  const auto* figures = std::any_cast<RecompileFigures>(&finding.figures);
  return figures != nullptr && finding.reason && finding.reason->state == State::kOngoing &&
         figures->cost.profile_share.value_or(0) > policy::kMostOfRunShare;
}

// Returns whether the finding is known not to occur in every step.
bool IsRare(const Finding& finding) {
  return finding.per_step && !IsInEveryStep(finding.per_step);
}

std::pair<int64_t, int64_t> Around(int64_t ns, double error) {
  return {Whole(double(ns) * (1 - error)), Whole(double(ns) * (1 + error))};
}

}  // namespace

absl::StatusOr<RunLength> RunLength::Of(const Run& run) {
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const DeviceTimes* devices, run.Get<DeviceTimes>());
  RunLength length{.ns = times->longest(), .is_part = !run.slice().empty()};
  for (const DeviceTime& device : devices->devices)
    length.ns = std::max(length.ns.value_or(0), device.span().length_ns());
  return length;
}

Severity SeverityOf(const Finding& finding, const RunLength& run) {
  if (!finding.needs_fixing) return Severity::kInfo;
  if (finding.stops_program) return Severity::kError;
  const OptInt avoidable_ns = finding.saving_ns ? finding.saving_ns : finding.cost_ns;
  if (!avoidable_ns || run.ns.value_or(0) <= 0) return Severity::kWarning;
  const double share = double(*avoidable_ns) / double(*run.ns);
  if (share < policy::kNoticeableShare && IsRare(finding)) return Severity::kInfo;
  const bool is_most = share > policy::kMostOfRunShare &&
                       (finding.saving_ns || KeepsCompiling(finding));
  return is_most && GoesOn(finding) && finding.certainty != Certainty::kInferred && !run.is_part
             ? Severity::kError
             : Severity::kWarning;
}

void SetIntervals(const RunLength& run, Finding& finding) {
  // Compiles are timed, even if their reason or what a remedy saves is inferred.
  const bool is_timed =
      finding.analyzer != nullptr && finding.analyzer->spent_on == SpentOn::kCompiling;
  if (finding.cost_ns && finding.certainty != Certainty::kMeasured && !is_timed)
    finding.cost_interval_ns = Around(*finding.cost_ns, policy::kEstimateError);
  // The analyzer may know the range itself.
  if (!finding.saving_ns || finding.saving_interval_ns) return;
  const bool is_recompile = finding.analyzer == &recompilation;
  auto [low, high] = Around(*finding.saving_ns,
                            is_recompile ? policy::kRecompileSavingError : policy::kEstimateError);
  // Nothing saves more idle time than there is, or more than the run. The waits for data before the
  // steady steps are saved beside those that input_bound counts.
  if (finding.analyzer == &device_gap && finding.cost_ns) high = std::min(high, *finding.cost_ns);
  if (run.ns) high = std::min(high, std::max(*run.ns, *finding.saving_ns));
  finding.saving_interval_ns = {low, high};
}

void LimitTotalSaving(const RunLength& run, Finding& finding) {
  if (!run.ns || !finding.total_saving_interval_ns) return;
  auto& [low, high] = *finding.total_saving_interval_ns;
  high = std::min(high, std::max(*run.ns, finding.total_saving_ns().value_or(0)));
}

}  // namespace xlaprof
