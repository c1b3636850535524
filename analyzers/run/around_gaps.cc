#include "analyzers/run/around_gaps.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "analyzers/policy.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/early_cuts.h"
#include "analyzers/run/steps.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"

namespace xlaprof {
namespace {

// Returns the first fetch that ends in the first half of the gap, or shortly before it, or null.
const TransferRow* FetchBefore(const Transfers& transfers, int64_t process_id,
                               const Interval& gap) {
  const int64_t middle_ns = gap.begin_ns + gap.length_ns() / 2;
  const int64_t shortly_before_ns = gap.begin_ns - gap.length_ns() / 10;
  const auto found = std::ranges::find_if(transfers.rows, [&](const TransferRow& row) {
    if (row.direction != Direction::kFromDevice || !row.ts_ns || !row.dur_ns) return false;
    const int64_t end_ns = *row.ts_ns + *row.dur_ns;
    return row.process_id.value_or(0) == process_id && end_ns >= shortly_before_ns &&
           end_ns <= middle_ns;
  });
  return found == transfers.rows.end() ? nullptr : &*found;
}

// Returns the name of the fetch's event without its class, or "" if it was not recorded. The event
// covers most of the fetch: it may begin earlier, to wait for the value, and its clock may differ by
// some nanoseconds. Its thread may be unknown.
absl::StatusOr<std::string> NameOf(const Run& run, const TransferRow& fetch) {
  const StringId transfer = run.store().Find(TextOf(Category::kTransfer));
  if (transfer == 0) return std::string();
  const int64_t middle_ns = *fetch.ts_ns + *fetch.dur_ns / 2;
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory,
                                .from_ns = middle_ns,
                                .to_ns = middle_ns};
  if (fetch.track_id) options.track_ids = {*fetch.track_id};
  const int64_t end_ns = *fetch.ts_ns + *fetch.dur_ns;
  int64_t begin_ns = INT64_MIN;
  std::string name;
  XP_TRY(EachEvent(run.store(), std::move(options), [&](const EventBatch& batch, size_t i) {
    const int64_t ts_ns = batch.ts_ns[i];
    const int64_t covered_ns =
        std::min(ts_ns + batch.dur_ns[i], end_ns) - std::max(ts_ns, *fetch.ts_ns);
    const bool covers_most = covered_ns >= *fetch.dur_ns / 2;
    if (!covers_most || batch.category[i] != transfer || ts_ns < begin_ns) return;
    begin_ns = ts_ns;
    const std::string_view whole = run.store().Text(batch.name[i]);
    const size_t colons = whole.rfind("::");
    name = colons == std::string_view::npos ? whole : whole.substr(colons + 2);
  }));
  return name;
}

}  // namespace

absl::StatusOr<FetchesBeforeGaps> FetchesBefore(const Run& run, int64_t process_id,
                                                std::span<const Interval> gaps) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  FetchesBeforeGaps fetches;
  for (const Interval& gap : gaps) {
    const TransferRow* fetch = FetchBefore(*transfers, process_id, gap);
    if (fetch == nullptr) continue;
    if (++fetches.gaps > 1) continue;
    XP_TRY(fetches.name, NameOf(run, *fetch));
  }
  return fetches;
}

namespace {

struct Start {
  int64_t ts_ns = 0;
  const ExecutionRow* row = nullptr;
};

// Returns the executions of a process in the order in which the host started them.
absl::StatusOr<std::vector<Start>> StartsOf(const Run& run, int64_t process_id) {
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::vector<Start> starts;
  for (const ExecutionRow& row : executions->rows) {
    const OptInt ts_ns = RequestTime(row);
    if (ts_ns && row.process_id.value_or(0) == process_id) starts.push_back({*ts_ns, &row});
  }
  std::ranges::stable_sort(starts, {}, &Start::ts_ns);
  return starts;
}

// Returns the executions after which an op without lowering runs on the CPU, which takes time, too.
absl::StatusOr<std::set<int64_t>> ExecutionsOfFallbacks(const Run& run) {
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  std::set<int64_t> ids;
  for (const EarlyCut& cut : cuts->cuts) {
    if (!cut.op.empty()) ids.insert(cut.executions.begin(), cut.executions.end());
  }
  return ids;
}

// Returns the longest time that tracing between two executions takes.
absl::StatusOr<OptInt> LongestTracing(const Run& run, const std::vector<Start>& starts) {
  XP_TRY(const Graphs* graphs, run.Get<Graphs>());
  OptInt most_nodes;
  std::set<int64_t> seen;
  for (const Start& start : starts) {
    if (!start.row->graph_id || !seen.insert(*start.row->graph_id).second) continue;
    const std::vector<const GraphRow*> forms = graphs->FormsOf(start.row->graph_id);
    // HLO has more nodes than the operations that Python traces.
    const auto traced = std::ranges::find_if(
        forms, [](const GraphRow* form) { return form->printed_as == PrintedForm::kIrText; });
    for (const GraphRow* form : forms) {
      if (form->node_count && (traced == forms.end() || form == *traced))
        most_nodes = std::max(most_nodes.value_or(0), *form->node_count);
    }
  }
  if (!most_nodes) return most_nodes;
  return *most_nodes * policy::kTracedOperationNs;
}

}  // namespace

absl::StatusOr<std::optional<WorkBetweenLines>> FindWorkBetweenLines(
    const Run& run, int64_t process_id, std::span<const LongGap> gaps) {
  XP_TRY(const std::vector<Start> starts, StartsOf(run, process_id));
  XP_TRY(const std::set<int64_t> of_fallbacks, ExecutionsOfFallbacks(run));
  XP_TRY(const Sites* sites, run.Get<Sites>());
  XP_TRY(const OptInt tracing_ns, LongestTracing(run, starts));
  if (!tracing_ns) return std::nullopt;
  std::map<std::pair<SourcePlace, SourcePlace>, WorkBetweenLines> by_lines;
  for (const LongGap& gap : gaps) {
    const auto after = std::ranges::lower_bound(starts, gap.gap.begin_ns, {}, &Start::ts_ns);
    if (after == starts.begin() || after == starts.end()) continue;
    const ExecutionRow &first = *std::prev(after)->row, &second = *after->row;
    if (of_fallbacks.contains(first.id)) continue;
    const SourcePlace before_place = sites->SubjectOf(first.site_id).place(),
                      after_place = sites->SubjectOf(second.site_id).place();
    if (!before_place.line || !after_place.line || before_place.IsLineOf(after_place)) continue;
    if (gap.main_ns < 2 * *tracing_ns) continue;
    WorkBetweenLines& work = by_lines[{before_place, after_place}];
    work.ns += gap.main_ns;
    ++work.gaps;
  }
  const auto most = std::ranges::max_element(
      by_lines, {}, [](const auto& of_lines) { return of_lines.second.ns; });
  if (most == by_lines.end()) return std::nullopt;
  WorkBetweenLines work = most->second;
  std::tie(work.before, work.after) = most->first;
  return work;
}

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
