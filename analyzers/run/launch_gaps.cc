#include "analyzers/run/launch_gaps.h"

#include <algorithm>
#include <functional>
#include <map>

#include "analyzers/policy.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"

namespace xlaprof {
namespace {

// Returns whether the host does this while it starts one execution after the other.
bool IsOfLaunching(const IdleCause& cause) {
  if (cause.wait != GapWait::kUnknown || cause.activity.is_in_scope()) return false;
  switch (cause.activity.doing) {
    case Doing::kNothing:
    case Doing::kUserCode:
    case Doing::kRuntime:
    case Doing::kExecute:
    case Doing::kTransfer:
      return true;
    case Doing::kTracing:
    case Doing::kInput:
    case Doing::kAllocate:
    case Doing::kCapture:
    case Doing::kCompile:
      break;
  }
  return false;
}

// Returns whether a late host is one cause, whichever of these it did: it launches too late.
bool IsLateLaunch(const IdleCause& cause) {
  if (cause.wait != GapWait::kHostWait) return false;
  switch (cause.activity.doing) {
    case Doing::kNothing:
    case Doing::kUserCode:
    case Doing::kRuntime:
    case Doing::kTracing:
    case Doing::kExecute:
      return true;
    case Doing::kInput:
    case Doing::kTransfer:
    case Doing::kAllocate:
    case Doing::kCapture:
    case Doing::kCompile:
      break;
  }
  return false;
}

// Merges the causes of each scope for which `is_one` holds into the largest of them.
CausesOfIdleTime MergeInScopes(CausesOfIdleTime causes, bool (*is_one)(const IdleCause&)) {
  std::map<std::pair<StringId, NamedBy>, size_t> largest;  // by scope
  CausesOfIdleTime out;
  for (auto& [cause, idle] : causes) {
    if (is_one(cause)) {
      const auto [at, is_first] =
          largest.try_emplace({cause.activity.scope, cause.activity.named_by}, out.size());
      if (!is_first) {
        out[at->second].second.Add(idle);
        out[at->second].second.scopes = 1;
        continue;
      }
    }
    out.emplace_back(cause, std::move(idle));
  }
  std::ranges::stable_sort(out, std::greater<>(), [](const auto& of) { return of.second.ns; });
  return out;
}

}  // namespace

absl::StatusOr<std::optional<SmallExecutions>> FindSmallExecutions(const Run& run,
                                                                   const DeviceIdle& device) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  XP_TRY(const WorkUnit* unit, run.Get<WorkUnit>());
  XP_TRY(const Steps* steps, run.Get<Steps>());
  SmallExecutions small;
  int64_t all_executions = 0;  // of the process, also those without a time
  for (const ExecutionRow& row : executions->rows) {
    all_executions += row.process_id.value_or(0) == device.time.process_id;
    small.count += row.ts_ns && row.process_id.value_or(0) == device.time.process_id &&
                   row.device.value_or(device.time.device) == device.time.device &&
                   *row.ts_ns >= device.steady.begin_ns && *row.ts_ns < device.steady.end_ns;
  }
  const int64_t units = device.by_steps ? device.chances
                        : unit->program ? unit->program->executions
                                        : 0;
  if (small.count < policy::kManySmallExecutions || device.idle_share() < policy::kMostOfRunShare ||
      double(small.count) < policy::kSmallExecutionsPerUnit * double(units))
    return std::nullopt;
  // Also steps without times show that each has only a few executions.
  const int64_t all_steps =
      std::ranges::count(steps->all, device.time.process_id, &StepSpan::process_id);
  if (double(all_executions) < policy::kSmallExecutionsPerUnit * double(all_steps))
    return std::nullopt;
  small.mean_ns = Overlap(device.time.busy, device.steady) / small.count;
  if (small.mean_ns >= policy::kSmallExecutionNs) return std::nullopt;
  return small;
}

CausesOfIdleTime MergeLaunching(CausesOfIdleTime causes) {
  for (auto& [cause, idle] : causes) {
    if (IsOfLaunching(cause)) cause = {.activity = {.doing = Doing::kExecute}};
  }
  return MergeInScopes(std::move(causes), IsOfLaunching);
}

CausesOfIdleTime MergeLateLaunches(CausesOfIdleTime causes) {
  return MergeInScopes(std::move(causes), IsLateLaunch);
}

}  // namespace xlaprof
