// The times that early cuts cost: measured, limited to what is lost, and estimated for the whole run.
#include <algorithm>
#include <map>
#include <set>

#include "analyzers/policy.h"
#include "analyzers/run/early_cuts_internal.h"
#include "analyzers/run/metric_counts.h"
#include "analyzers/run/repeated_work.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/work_unit.h"
#include "base/whole.h"
#include "profiler/store/cut_kind.h"

namespace xlaprof {
namespace {

// Counts the executions of the cuts of ops whose calls are counted, if a profile shows only some of
// them and no log the others. The runtime counted all executions, so no more than are missing are theirs.
absl::Status CountMissingCuts(const Run& run, EarlyCuts& cuts) {
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  int64_t missing = fetches->executions.value_or(0) - int64_t(executions->rows.size());
  for (const FallbackOp& op : cuts.ops) {
    if (op.cuts.size() != 1 || !op.count) continue;
    EarlyCut& cut = cuts.cuts[size_t(op.cuts[0])];
    const int64_t more =
        std::clamp<int64_t>(*op.count - cut.count, 0, std::max<int64_t>(0, missing));
    cut.count += more;
    missing -= more;
  }
  return absl::OkStatus();
}

// Returns the time that all reads and ops without lowering of the run block the host at most: in one
// process, that of all fetches, which metrics count. Nothing if the metrics do not cover the cuts.
absl::StatusOr<OptInt> MostWait(const Run& run, const EarlyCuts& cuts) {
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::set<OptInt> processes;
  for (const ExecutionRow& row : executions->rows) processes.insert(row.process_id);
  int64_t cut = 0;
  for (const EarlyCut& of : cuts.cuts) cut += of.count;
  return processes.size() == 1 && fetches->count.value_or(0) >= cut ? fetches->time_ns : OptInt();
}

// Makes estimated times fit into `limit_ns` by one factor. None becomes less than what was measured.
struct Estimate {
  int64_t* ns;
  int64_t measured_ns;
};
void FitInto(double limit_ns, const std::vector<Estimate>& estimates) {
  double sum_ns = 0;
  for (const Estimate& of : estimates) sum_ns += double(*of.ns);
  if (sum_ns <= limit_ns) return;
  for (const Estimate& of : estimates)
    *of.ns = std::max(of.measured_ns, Whole(double(*of.ns) * std::max(0.0, limit_ns) / sum_ns));
}

}  // namespace

absl::Status LimitCosts(const Run& run, EarlyCuts& cuts) {
  double wanted_ns = 0;
  for (const EarlyCut& cut : cuts.cuts) wanted_ns += double(cut.cost_ns().value_or(0));
  if (wanted_ns <= 0) return absl::OkStatus();
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::map<int64_t, double> left_ns;  // by process
  for (const auto& [process_id, ns] : times->timed_by_process) left_ns[process_id] = double(ns);
  for (const CompileRow& row : compiles->rows) {
    if (row.ts_ns)
      left_ns[row.process_id.value_or(0)] -=
          double(row.dur_ns.value_or(0) + row.trace_ns.value_or(0));
  }
  // Devices work at the same time, so the busiest of each process counts.
  std::map<std::pair<int64_t, OptText>, double> own_ns;
  XP_TRY(const RepeatedWork* repeated, run.Get<RepeatedWork>());
  for (const ExecutionRow& row : executions->rows) {
    // A read whose nodes do not run again does the step's own work.
    if ((row.cause && EndsStep(*row.cause)) || repeated->Of(row.id) == 0.0)
      own_ns[{row.process_id.value_or(0), row.device}] += double(row.dur_ns.value_or(0));
  }
  std::map<int64_t, double> busiest_ns;
  for (const auto& [key, ns] : own_ns) busiest_ns[key.first] = std::max(busiest_ns[key.first], ns);
  double limit_ns = 0;
  for (const auto& [process_id, ns] : left_ns)
    limit_ns += std::max(0.0, ns - busiest_ns[process_id]);
  if (limit_ns <= 0 || limit_ns >= wanted_ns) return absl::OkStatus();
  for (EarlyCut& cut : cuts.cuts) cut.lost = limit_ns / wanted_ns;
  return absl::OkStatus();
}

absl::Status EstimateTimes(const Run& run, EarlyCuts& cuts) {
  XP_TRY(CountMissingCuts(run, cuts));
  std::vector<Estimate> waits, all;
  double known_ns = 0;  // waits that are not estimated
  for (EarlyCut& cut : cuts.cuts) {
    cut.estimated_wait_ns = cut.waits.OfAll(cut.count);
    if (!cut.estimated_wait_ns) {
      known_ns += double(cut.waits.sum_ns);
      continue;
    }
    cut.estimated_again_ns = cut.repeats.OfAll(cut.count).value_or(cut.repeats.sum_ns);
    waits.push_back({&*cut.estimated_wait_ns, cut.waits.sum_ns});
    all.insert(all.end(), {waits.back(), {&*cut.estimated_again_ns, cut.repeats.sum_ns}});
  }
  if (all.empty()) return absl::OkStatus();
  XP_TRY(const OptInt most_wait_ns, MostWait(run, cuts));
  if (most_wait_ns) FitInto(double(*most_wait_ns) - known_ns, waits);
  XP_TRY(const RunTimes* times, run.Get<RunTimes>());
  XP_TRY(const Compiles* compiles, run.Get<Compiles>());
  double left_ns = 0;
  for (const auto& [process_id, ns] : times->by_process) left_ns += double(ns);
  for (const CompileRow& row : compiles->rows)
    left_ns -= double(row.dur_ns.value_or(0) + row.trace_ns.value_or(0));
  FitInto(left_ns, all);
  return absl::OkStatus();
}

void MeasuredTimes::Add(int64_t ns) {
  sum_ns += ns;
  longest_ns = std::max(longest_ns, ns);
  ++count;
}

std::optional<int64_t> MeasuredTimes::OfAll(int64_t all) const {
  if (count < policy::kNotOnce || count >= all) return {};
  const double usual_ns = double(sum_ns - longest_ns) / double(count - 1);
  return Whole(double(sum_ns) + usual_ns * double(all - count));
}

std::optional<int64_t> EarlyCut::cost_ns() const {
  if (waits.count == 0) return {};
  return Whole(lost * double(estimated_wait_ns.value_or(waits.sum_ns) +
                             estimated_again_ns.value_or(repeats.sum_ns)));
}

}  // namespace xlaprof
