#include "analyzers/severity.h"

#include <algorithm>

#include "analyzers/policy.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/run_time.h"

namespace xlaprof {
namespace {

bool GoesOn(const Finding& finding) {
  return !finding.reason || finding.reason->state.value_or(State::kOngoing) == State::kOngoing;
}

// Returns whether the finding is known not to occur in every step.
bool IsRare(const Finding& finding) { return finding.per_step.value_or(1) < 1; }

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
  const OptInt avoidable_ns = finding.saving_ns ? finding.saving_ns : finding.cost_ns;
  if (!avoidable_ns || run.ns.value_or(0) <= 0) return Severity::kWarning;
  const double share = double(*avoidable_ns) / double(*run.ns);
  if (share < policy::kNoticeableShare && IsRare(finding)) return Severity::kInfo;
  const bool is_most = finding.saving_ns && share > policy::kMostOfRunShare;
  return is_most && GoesOn(finding) && finding.certainty != Certainty::kInferred && !run.is_part
             ? Severity::kError
             : Severity::kWarning;
}

}  // namespace xlaprof
