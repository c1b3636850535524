#include "analyzers/run/fallback_copies.h"

#include <algorithm>

#include "analyzers/run/early_cuts.h"
#include "analyzers/run/fetches.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/tables.h"
#include "base/metric_names.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

// Returns the number of calls of all ops without lowering, or nothing if some are not counted.
OptInt CallsOf(const EarlyCuts& cuts) {
  int64_t calls = 0;
  for (const FallbackOp& op : cuts.ops) {
    if (!op.count) return {};
    calls += *op.count;
  }
  return calls > 0 ? OptInt(calls) : OptInt();
}

void AddFetches(const Fetches& fetches, int64_t reads, FallbackCopies& copies) {
  if (!fetches.count || !fetches.time_ns) return;
  // Every call fetches once. More fetches than calls and reads of numbers are reads of tensors.
  if (*fetches.count != copies.calls + reads) return;
  copies.fetches = copies.calls;
  copies.fetch_ns = *fetches.time_ns;
}

}  // namespace

absl::StatusOr<FallbackCopies> FallbackCopies::Of(const Run& run) {
  FallbackCopies copies;
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  XP_TRY(const EarlyCuts* cuts, run.Get<EarlyCuts>());
  XP_TRY(const Fetches* fetches, run.Get<Fetches>());
  const OptInt calls = CallsOf(*cuts);
  const bool on_timeline = std::ranges::any_of(
      transfers->rows, [](const TransferRow& row) { return row.ts_ns.has_value(); });
  if (on_timeline || !calls || !metrics->last) return copies;
  copies.calls = *calls;
  const int64_t reads = cuts->scalar_reads.value_or(0);
  copies.has_reads = reads > 0;
  AddFetches(*fetches, reads, copies);
  if (copies.has_reads) {
    const MetricState* execute = metrics->last->Find(metric_names::kExecuteTime);
    if (execute == nullptr) return FallbackCopies();
    copies.fetch_ns = std::max<int64_t>(0, copies.fetch_ns - Whole(execute->sum));
  }
  // Uploads of anything else, such as weights, would make them more than the calls.
  const MetricState* uploads = metrics->last->Find(metric_names::kTransferToDeviceTime);
  if (uploads == nullptr) uploads = metrics->last->Find(metric_names::kTransferToServerTime);
  if (uploads != nullptr && uploads->unit == MetricUnit::kNs && uploads->samples > 0 &&
      uploads->samples <= copies.calls) {
    copies.uploads = uploads->samples;
    copies.upload_ns = Whole(uploads->sum);
  }
  return copies;
}

}  // namespace xlaprof
