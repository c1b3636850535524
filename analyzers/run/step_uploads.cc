#include "analyzers/run/step_uploads.h"

#include <algorithm>
#include <cmath>

#include "analyzers/policy.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/tables.h"
#include "base/array_bytes.h"
#include "base/metric_names.h"

namespace xlaprof {
namespace {

// Sets the usual size and the number of uploads, which metrics reports count.
absl::Status FillSizes(const Run& run, StepUploads& uploads) {
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  const MetricsState* state = metrics->steady();
  const MetricState* data = state ? state->Find(metric_names::kOutboundData) : nullptr;
  if (!data || data->samples <= 0) return absl::OkStatus();
  uploads.usual_bytes = data->usual();
  if (!data->percentiles.empty()) uploads.largest_bytes = data->percentiles.rbegin()->second;
  if (state->mark_step.value_or(0) > 0)
    uploads.per_step = double(data->samples) / double(*state->mark_step);
  return absl::OkStatus();
}

bool IsNear(double a, double b, double share) { return std::abs(a - b) <= share * b; }

}  // namespace

absl::StatusOr<StepUploads> StepUploads::Of(const Run& run, int64_t process_id) {
  StepUploads uploads;
  XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process_id));
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  int64_t others = 0;
  for (const TransferRow& row : transfers->rows) {
    if (row.direction != Direction::kToDevice || !row.ts_ns ||
        row.process_id.value_or(process_id) != process_id)
      continue;
    if (row.track_id == host->leading_thread()) {
      uploads.starts_ns.push_back(*row.ts_ns);
    } else {
      ++others;
    }
  }
  std::ranges::sort(uploads.starts_ns);
  uploads.has_others =
      double(others) > policy::kOtherUploadsShare * double(uploads.starts_ns.size());
  if (uploads.starts_ns.empty()) return uploads;
  XP_TRY(FillSizes(run, uploads));
  if (!uploads.usual_bytes || uploads.per_step <= 0) return uploads;
  XP_TRY(const Executions* executions, run.Get<Executions>());
  const OptInt graph = MostExecutedGraph(*executions, process_id);
  if (!graph) return uploads;
  XP_TRY(std::vector<InputsOfLine> inputs, InputsByLine(run, *graph));
  std::erase_if(inputs, [&](const InputsOfLine& of) {
    return !IsNear(double(ArrayBytes(of.shape)), *uploads.usual_bytes, policy::kSameSizeShare);
  });
  // Inputs of the same size at two lines cannot be told apart.
  if (inputs.size() == 1 && !inputs.front().place.empty() &&
      IsNear(uploads.per_step, double(inputs.front().count), policy::kSameUploadsShare))
    uploads.inputs = std::move(inputs.front());
  return uploads;
}

}  // namespace xlaprof
