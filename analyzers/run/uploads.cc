#include "analyzers/run/uploads.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "analyzers/policy.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_timeline.h"
#include "analyzers/run/host_to_device.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/tables.h"
#include "base/array_bytes.h"
#include "base/metric_names.h"

namespace xlaprof {

absl::StatusOr<UploadSizes> UploadSizes::Of(const Run& run) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  UploadSizes sizes;
  for (const TransferRow& row : transfers->rows) {
    if (row.direction == Direction::kToDevice && row.bytes)
      ++sizes.by_process[row.process_id.value_or(0)][*row.bytes];
  }
  return sizes;
}

absl::StatusOr<PageableUploads> PageableUploads::Of(const Run& run) {
  const Store& store = run.store();
  PageableUploads uploads;
  // CUDA and ROCm print "Memcpy HtoD (Pageable -> Device)".
  XP_TRY(const auto flows, FlowsToOps(store, {"*HtoD*Pageable ->*"}));
  if (flows.empty()) return uploads;
  const StringId transfer = store.Find(TextOf(Category::kTransfer));
  XP_TRY(EachEvent(store,
                   {.columns = kStart | kDuration | kCategory | kFlowOut, .categories = {transfer}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.category[i] != transfer || batch.dur_ns[i] <= 0 ||
                         !flows.contains(batch.flow_out[i]))
                       return;
                     ++uploads.count;
                     uploads.blocked_ns += batch.dur_ns[i];
                     if (batch.dur_ns[i] > uploads.longest_ns)
                       uploads.longest_ns = batch.dur_ns[i], uploads.longest_ts_ns = batch.ts_ns[i];
                   }));
  return uploads;
}

namespace {

constexpr size_t kMaxBursts = 8;  // intervals that are kept

struct Burst {
  Interval time;
  int64_t uploads = 0;
  int64_t copying_ns = 0;  // the part of the time in which the uploads themselves ran
};

// Returns the bursts of the thread that makes the steps, in order. An execution ends a burst: programs
// without jit upload the numbers of each operation and run it.
absl::StatusOr<std::vector<Burst>> FindBursts(const Run& run, int64_t process_id, Interval steady) {
  XP_TRY(const HostTimeline* host, run.Get<HostTimeline>(process_id));
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  std::vector<Interval> uploads;
  for (const TransferRow& row : transfers->rows) {
    if (row.direction == Direction::kToDevice && row.ts_ns && host->has_events() &&
        row.track_id == host->leading_thread() && *row.ts_ns >= steady.begin_ns &&
        *row.ts_ns < steady.end_ns)
      uploads.push_back({*row.ts_ns, *row.ts_ns + std::max<int64_t>(0, row.dur_ns.value_or(0))});
  }
  std::ranges::sort(uploads, {}, &Interval::begin_ns);
  XP_TRY(const Executions* executions, run.Get<Executions>());
  std::set<int64_t> requests_ns;
  for (const ExecutionRow& row : executions->rows) {
    if (row.process_id == process_id && row.enqueue_ts_ns) requests_ns.insert(*row.enqueue_ts_ns);
  }
  const auto runs_between = [&](int64_t begin_ns, int64_t end_ns) {
    const auto next = requests_ns.lower_bound(begin_ns);
    return next != requests_ns.end() && *next < end_ns;
  };
  std::vector<Burst> bursts;
  for (const Interval& upload : uploads) {
    if (bursts.empty() || upload.begin_ns - bursts.back().time.end_ns > policy::kBurstPauseNs ||
        runs_between(bursts.back().time.end_ns, upload.begin_ns))
      bursts.push_back({.time = {upload.begin_ns, upload.begin_ns}});
    Burst& burst = bursts.back();
    burst.time.end_ns = std::max(burst.time.end_ns, upload.end_ns);
    burst.copying_ns += upload.length_ns();
    ++burst.uploads;
  }
  // Large uploads take their time because of their bytes, whether they are one or many.
  std::erase_if(bursts, [](const Burst& burst) {
    return burst.uploads < policy::kUploadsOfBurst || 2 * burst.copying_ns > burst.time.length_ns();
  });
  return bursts;
}

// Returns whether an upload may have this size, according to the sizes of a metrics report.
bool MayBeUploaded(const MetricState* sizes, double bytes) {
  if (sizes == nullptr || sizes->percentiles.empty()) return true;
  const double rounding = 1 + policy::kSameSizeShare;
  return bytes * rounding >= sizes->percentiles.begin()->second &&
         bytes <= sizes->percentiles.rbegin()->second * rounding;
}

// Returns the lines whose inputs the uploads are, if as many inputs can be told from others.
absl::StatusOr<std::vector<UploadBursts::Line>> FindLines(const Run& run, int64_t process_id,
                                                          double per_turn) {
  std::vector<UploadBursts::Line> lines;
  XP_TRY(const Executions* executions, run.Get<Executions>());
  const OptInt graph = MostExecutedGraph(*executions, process_id);
  if (!graph) return lines;
  XP_TRY(const std::vector<InputsOfLine> inputs, InputsByLine(run, *graph));
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  const MetricsState* state = metrics->steady();
  const MetricState* sizes = state ? state->Find(metric_names::kOutboundData) : nullptr;
  std::map<SourcePlace, int64_t> by_place;
  for (const InputsOfLine& of : inputs) {
    if (!of.place.empty() && MayBeUploaded(sizes, double(ArrayBytes(of.shape))))
      by_place[of.place] += of.count;
  }
  int64_t all = 0;
  for (const auto& [place, count] : by_place) {
    if (count < policy::kUploadsOfBurst) continue;
    lines.push_back({place, count});
    all += count;
  }
  if (double(all) < policy::kFewestInputsOfUploads * per_turn ||
      double(all) > policy::kMostInputsOfUploads * per_turn)
    lines.clear();
  std::ranges::stable_sort(lines, std::greater<>(), &UploadBursts::Line::inputs);
  return lines;
}

}  // namespace

absl::StatusOr<UploadBursts> UploadBursts::Of(const Run& run) {
  UploadBursts worst;
  XP_TRY(const IdleTime* idle, run.Get<IdleTime>());
  for (const DeviceIdle& device : idle->devices) {
    if (device.chances <= 0 || device.steady.length_ns() <= 0) continue;
    const int64_t process_id = device.time.process_id;
    XP_TRY(std::vector<Burst> bursts, FindBursts(run, process_id, device.steady));
    UploadBursts found{.by_steps = device.by_steps};
    for (const Burst& burst : bursts) {
      found.uploads += burst.uploads;
      found.exposed_ns += burst.time.length_ns() - Overlap(device.occupied, burst.time);
    }
    if (found.exposed_ns <= worst.exposed_ns) continue;
    found.per_turn = double(found.uploads) / double(device.chances);
    found.share = double(found.exposed_ns) / double(device.steady.length_ns());
    std::ranges::stable_sort(bursts, std::greater<>(),
                             [](const Burst& burst) { return burst.time.length_ns(); });
    if (bursts.size() > kMaxBursts) bursts.resize(kMaxBursts);
    for (const Burst& burst : bursts) found.longest.push_back(burst.time);
    XP_TRY(found.lines, FindLines(run, process_id, found.per_turn));
    worst = std::move(found);
  }
  return worst;
}

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
