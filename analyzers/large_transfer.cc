// Finds copies between host and device that take a noticeable part of the time. If copies have times,
// only the time in which the device idles counts. Otherwise, the least time that their bytes need
// counts.
#include "analyzers/large_transfer.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/metric_counts.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/tables.h"
#include "analyzers/run/uploads.h"
#include "analyzers/run/user_call.h"
#include "analyzers/run/work_unit.h"
#include "base/metric_names.h"
#include "base/source_place.h"
#include "base/whole.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxTransferRows = 8;

struct Copies {
  int64_t count = 0, exposed_ns = 0, bytes = 0, with_bytes = 0;
  Subject place;  // place of the last copy
  OptText scope;
  struct Copy {
    int64_t row = 0, ts_ns = 0, dur_ns = 0, exposed_ns = 0;
    OptInt bytes, track_id;
  };
  std::vector<Copy> all;  // FindingOf puts the largest first
};

ReasonType ReasonOf(Direction direction) {
  switch (direction) {
    case Direction::kFromDevice:
      return ReasonType::kFromDevice;
    case Direction::kToDevice:
      return ReasonType::kToDevice;
    case Direction::kDeviceToDevice:
    case Direction::kUnknown:
      return ReasonType::kDeviceToDevice;
  }
  return ReasonType::kDeviceToDevice;
}

Turn TurnOf(bool has_steps) { return has_steps ? Turn::kStep : Turn::kExecution; }

// The steady time, which transfers are compared with, and the times in which the devices of each
// process were occupied.
struct DeviceWork {
  Interval steady;  // the longest steady time of a device
  int64_t steady_steps = 0;
  int64_t units = 0;                                  // of a run without steps (WorkUnit)
  std::map<int64_t, std::vector<Interval>> occupied;  // by process
};

DeviceWork WorkOf(const std::vector<DeviceIdle>& devices) {
  DeviceWork work;
  bool is_first = true;
  for (const DeviceIdle& device : devices) {
    std::vector<Interval>& all = work.occupied[device.time.process_id];
    all.insert(all.end(), device.occupied.begin(), device.occupied.end());
    if (!is_first && device.steady.length_ns() <= work.steady.length_ns()) continue;
    is_first = false;
    work.steady = device.steady;
    work.steady_steps = device.by_steps ? device.chances : 0;
  }
  for (auto& [process, all] : work.occupied) all = Union(std::move(all));
  return work;
}

// The direction, line and scope by which transfers are grouped.
using CopyKey = std::tuple<Direction, std::string, std::string>;

// Returns when threads of PJRT copied to a device. A call that uploads a large array (DevicePut) only
// starts such a copy.
absl::StatusOr<std::vector<Interval>> BackgroundUploads(const Run& run) {
  std::vector<Interval> uploads;
  const StringId name = run.store().Find(NamesOfCalls(CallTrait::kInBackground).front());
  const StringId category = run.store().Find(TextOf(Category::kTransfer));
  if (name == 0 || category == 0) return uploads;
  XP_TRY(EachEvent(run.store(),
                   {.columns = kStart | kDuration | kName | kCategory, .categories = {category}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.name[i] == name)
                       uploads.push_back({batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]});
                   }));
  return uploads;
}

// Sets the place of copies without a line to that of the longest of them: the call of the jitted
// function whose arguments it copies, or else the user's function that was running.
absl::Status SetCaller(const Run& run, Copies& group) {
  if (group.place.line) return absl::OkStatus();
  const Copies::Copy& longest = *std::ranges::max_element(group.all, {}, &Copies::Copy::dur_ns);
  if (!longest.track_id) return absl::OkStatus();
  XP_TRY(const std::string function, JaxFunctionAt(run, *longest.track_id, longest.ts_ns));
  XP_TRY(const Subject call, CallByName(run, function));
  if (call.file) {
    group.place = call;
    return absl::OkStatus();
  }
  XP_TRY(const SourcePlace caller, UserCallAt(run, *longest.track_id, longest.ts_ns));
  if (!caller.empty()) group.place.SetPlace(caller);
  return absl::OkStatus();
}

// Returns the group with most of the uploads whose lines are unknown; null if there are none.
Copies* MostUploads(std::map<CopyKey, Copies>& groups) {
  Copies* most = nullptr;
  for (auto& [key, group] : groups) {
    const auto& [direction, line, scope] = key;
    if (direction == Direction::kToDevice && line.empty() &&
        (most == nullptr || group.count > most->count))
      most = &group;
  }
  return most;
}

// Raises the exposed time of these uploads to that of all uploads without a line and of the background
// uploads together. The threads that upload do not show for which scope they do it.
void AddBackground(const std::vector<TransferRow>& transfers, std::vector<Interval> uploads,
                   const DeviceWork& work, Copies& calls) {
  for (const TransferRow& row : transfers) {
    if (row.direction == Direction::kToDevice && row.ts_ns && !row.site_id)
      uploads.push_back({*row.ts_ns, *row.ts_ns + row.dur_ns.value_or(0)});
  }
  int64_t exposed_ns = 0;
  for (const Interval& upload : Union(std::move(uploads))) {
    const Interval in{std::max(upload.begin_ns, work.steady.begin_ns),
                      std::min(upload.end_ns, work.steady.end_ns)};
    if (in.length_ns() <= 0) continue;
    int64_t occupied_ns = 0;
    for (const auto& [process, occupied] : work.occupied)
      occupied_ns = std::max(occupied_ns, Overlap(occupied, in));
    exposed_ns += in.length_ns() - occupied_ns;
  }
  calls.exposed_ns = std::max(calls.exposed_ns, exposed_ns);
}

std::map<CopyKey, Copies> GroupCopies(const std::vector<TransferRow>& transfers, const Sites& sites,
                                      DeviceWork& work) {
  std::map<CopyKey, Copies> groups;
  for (const TransferRow& row : transfers) {
    if (!row.ts_ns || row.dur_ns.value_or(0) <= 0) continue;
    const Interval in{std::max(*row.ts_ns, work.steady.begin_ns),
                      std::min(*row.ts_ns + *row.dur_ns, work.steady.end_ns)};
    if (in.length_ns() <= 0) continue;
    const Subject place = sites.SubjectOf(row.site_id);
    const std::string line =
        place.line ? SourcePlace{place.file.value_or(""), place.line}.text() : "";
    Copies& group = groups[{row.direction, line, row.scope.value_or("")}];
    ++group.count;
    // Waiting while the device works belongs to sync_point, not to the copy.
    const int64_t exposed = in.length_ns() - Overlap(work.occupied[row.process_id.value_or(0)], in);
    group.exposed_ns += exposed;
    if (row.bytes) group.bytes += *row.bytes, ++group.with_bytes;
    group.place = place;
    group.scope = row.scope;
    group.all.push_back({row.id, *row.ts_ns, *row.dur_ns, exposed, row.bytes, row.track_id});
  }
  return groups;
}

Finding FindingOf(Direction direction, Copies& group, const DeviceWork& work) {
  Finding finding{.subject = group.place, .count = group.count, .cost_ns = group.exposed_ns};
  if (work.steady_steps > 0) finding.per_step = double(group.count) / double(work.steady_steps);
  const bool may_be_numbers =
      group.with_bytes == 0 && group.exposed_ns < policy::kShortCopyNs * group.count;
  double rate = finding.per_step.value_or(1);
  if (work.units > 0) rate = double(group.count) / double(work.units);
  finding.needs_fixing =
      group.count >= policy::kNotOnce && !may_be_numbers && rate >= policy::kCopiesPerStep;
  if (group.scope) finding.subject.scope = group.scope->substr(group.scope->rfind('/') + 1);
  finding.reason = Reason{.type = ReasonOf(direction)};
  ExposedCopies figures{.direction = direction,
                        .share = double(group.exposed_ns) / double(work.steady.length_ns())};
  if (group.with_bytes > 0) figures.mean_bytes = double(group.bytes) / double(group.with_bytes);
  std::ranges::stable_sort(group.all, std::greater<>(), &Copies::Copy::exposed_ns);
  for (size_t i = 0; i < group.all.size() && i < kMaxTransferRows; ++i) {
    const Copies::Copy& copy = group.all[i];
    finding.evidence.push_back(
        {.table = "transfer", .rows = {copy.row}, .ts_ns = copy.ts_ns, .dur_ns = copy.dur_ns});
    figures.bytes_of_evidence.push_back(copy.bytes);
  }
  finding.figures = LargeTransferFigures(std::move(figures));
  return finding;
}

absl::StatusOr<Findings> FindExposedCopies(const Run& run, const Transfers& transfers) {
  Findings findings;
  XP_TRY(const IdleTime* idle_time, run.Get<IdleTime>());
  XP_TRY(const Sites* sites, run.Get<Sites>());
  DeviceWork work = WorkOf(idle_time->devices);
  if (work.steady.length_ns() <= 0) return findings;
  XP_TRY(const WorkUnit* unit, run.Get<WorkUnit>());
  if (unit->program) work.units = unit->program->executions;
  XP_TRY(const std::vector<Interval> background, BackgroundUploads(run));
  std::map<CopyKey, Copies> groups = GroupCopies(transfers.rows, *sites, work);
  if (Copies* uploads = background.empty() ? nullptr : MostUploads(groups))
    AddBackground(transfers.rows, background, work, *uploads);
  for (auto& [key, group] : groups) {
    const double share = double(group.exposed_ns) / double(work.steady.length_ns());
    if (share < policy::kCopyShare) continue;
    XP_TRY(SetCaller(run, group));
    findings.push_back(FindingOf(std::get<Direction>(key), group, work));
  }
  return findings;
}

// Finds uploads from pageable memory that block the host for a noticeable part of the time.
absl::Status FindPageable(const Run& run, Findings& findings) {
  XP_TRY(const PageableUploads* uploads, run.Get<PageableUploads>());
  if (uploads->count < policy::kNotOnce) return absl::OkStatus();
  XP_TRY(const IdleTime* idle, run.Get<IdleTime>());
  const DeviceWork work = WorkOf(idle->devices);
  const int64_t rest_ns =
      uploads->blocked_ns - uploads->longest_ns;  // the longest may be the weights
  const double steady_ns = double(work.steady.length_ns());
  if (steady_ns <= 0 || double(rest_ns) < policy::kCopyShare * steady_ns) return absl::OkStatus();
  const int64_t idle_ns = std::min(uploads->blocked_ns, idle->most_ns().value_or(0));
  Finding finding{
      .needs_fixing = double(idle_ns) >= policy::kCopyShare * steady_ns,
      .count = uploads->count,
      .cost_ns = idle_ns,
      .reason = Reason{.type = ReasonType::kToDevice},
      .evidence = {
          {.table = "event", .ts_ns = uploads->longest_ts_ns, .dur_ns = uploads->longest_ns}}};
  if (work.steady_steps > 0) finding.per_step = double(uploads->count) / double(work.steady_steps);
  finding.figures =
      LargeTransferFigures(BlockingUploads{.share = double(uploads->blocked_ns) / steady_ns});
  findings.push_back(std::move(finding));
  return absl::OkStatus();
}

// Finds small tensors that a loop uploads one by one.
absl::Status FindOneByOne(const Run& run, Findings& findings) {
  XP_TRY(const UploadBursts* bursts, run.Get<UploadBursts>());
  if (bursts->share < policy::kCopyShare) return absl::OkStatus();
  Finding finding{.needs_fixing = bursts->per_turn >= policy::kUploadsOneByOne,
                  .count = bursts->uploads,
                  .cost_ns = bursts->exposed_ns,
                  .saving_ns = bursts->exposed_ns,
                  .reason = Reason{.type = ReasonType::kToDevice}};
  if (bursts->by_steps) finding.per_step = bursts->per_turn;
  if (!bursts->lines.empty()) finding.subject.SetPlace(bursts->lines.front().place);
  for (const Interval& burst : bursts->longest)
    finding.evidence.push_back(
        {.table = "transfer", .ts_ns = burst.begin_ns, .dur_ns = burst.length_ns()});
  finding.figures = LargeTransferFigures(UploadsOneByOne{.turn = TurnOf(bursts->by_steps),
                                                         .uploads_per_turn = bursts->per_turn,
                                                         .share = bursts->share,
                                                         .lines = bursts->lines});
  findings.push_back(std::move(finding));
  return absl::OkStatus();
}

constexpr const char* kTimedUploads = metric_names::kTransferToDeviceTime;

// Returns the metric that times the copies themselves, or null if there is none. There is none for
// reads, because they also wait for the execution.
const MetricState* TimedCopies(const MetricsState& state, Direction direction) {
  const MetricState* timed =
      direction == Direction::kToDevice ? state.Find(kTimedUploads) : nullptr;
  return timed && timed->unit == MetricUnit::kNs ? timed : nullptr;
}

// Judges transfers by their bytes alone. They are a finding if, at the link's best speed, they take
// a noticeable part of the execution time. Reports of torch_xla from 2019 have no step marks and are
// judged per execution, because a step has at least one.
Findings FindCountedBytes(const Metrics& metrics, const FallbackCopies& copies_of_ops) {
  Findings findings;
  const MetricsState* state = metrics.steady();
  const MetricState* execute = state ? state->Find(metric_names::kExecuteTime) : nullptr;
  if (!execute || execute->sum <= 0) return findings;
  const bool has_steps = state->mark_step.has_value();
  const int64_t turns = has_steps ? *state->mark_step : execute->samples;
  if (turns < 2) return findings;
  for (auto [name, direction] : {std::pair(metric_names::kInboundData, Direction::kFromDevice),
                                 std::pair(metric_names::kOutboundData, Direction::kToDevice)}) {
    const MetricState* data = state->Find(name);
    if (!data || data->samples <= 0) continue;
    // The cost of copies by ops without lowering is in the finding about these ops.
    if ((direction == Direction::kToDevice ? copies_of_ops.uploads : copies_of_ops.fetches) > 0)
      continue;
    // In a single cumulative report, the sum includes the first upload (all weights). The usual
    // size is not affected by it.
    const OptReal usual = metrics.recent ? OptReal(data->mean()) : data->usual();
    const double bytes = usual.value_or(data->mean()) * double(data->samples);
    const double per_turn = bytes / double(turns), copies = double(data->samples) / double(turns);
    const int64_t least_ns = Whole(bytes / policy::kLinkBytesPerSecond * 1e9);
    if (double(least_ns) < policy::kCopyShare * execute->sum || copies < policy::kCopiesPerStep)
      continue;
    Finding finding{.needs_fixing = usual.has_value(), .count = data->samples};
    if (has_steps) finding.per_step = copies;
    finding.reason = Reason{.type = ReasonOf(direction)};
    CopiedBytes figures{.direction = direction,
                        .turn = TurnOf(has_steps),
                        .bytes_per_turn = per_turn,
                        .copies_per_turn = copies,
                        .usual_is_known = usual.has_value(),
                        .link_bytes_per_second = policy::kLinkBytesPerSecond,
                        .least_ns_per_turn = Whole(double(least_ns) / double(turns)),
                        .execute_ns_per_turn = Whole(execute->sum / double(turns)),
                        .has_first_upload = !metrics.recent.has_value(),
                        .metric = name,
                        .sum_bytes = data->sum};
    if (const MetricState* timed = TimedCopies(*state, direction); timed && usual) {
      finding.cost_ns = Whole(timed->sum);
      figures.timed_ns_per_turn = Whole(timed->sum / double(turns));
    }
    finding.evidence = {{.table = "metric", .rows = {metrics.last->Find(name)->id}}};
    finding.figures = LargeTransferFigures(std::move(figures));
    findings.push_back(std::move(finding));
  }
  return findings;
}

// Finds numbers and small tensors that Python makes and graphs use. They are uploaded one by one,
// and each costs a call, even if it has few bytes. This applies only if the report does not time the
// copies.
Findings FindSmallUploads(const Metrics& metrics) {
  const MetricsState* state = metrics.steady();
  const MetricState* execute = state ? state->Find(metric_names::kExecuteTime) : nullptr;
  const MetricState* values = state ? state->Find(metric_names::kIrValueTensorToXlaData) : nullptr;
  if (!execute || !values || state->Find(kTimedUploads)) return {};
  const bool has_steps = state->mark_step.has_value();
  const int64_t turns = has_steps ? *state->mark_step : execute->samples;
  if (turns < 2 || values->samples < std::max<int64_t>(policy::kManySmallUploads, turns) ||
      values->sum <= policy::kSmallUploadShare * execute->sum)
    return {};
  SmallUploads figures{.turn = TurnOf(has_steps),
                       .uploads_per_turn = double(values->samples) / double(turns),
                       .mean_ns = Whole(values->mean()),
                       .execute_ns = Whole(execute->sum),
                       .has_first_upload = !metrics.recent.has_value(),
                       .may_be_weights = turns < policy::kYoungRunSteps && !metrics.recent};
  Finding finding{.needs_fixing = values->sum > execute->sum,
                  .count = values->samples,
                  .cost_ns = Whole(values->sum),
                  .reason = Reason{.type = ReasonType::kToDevice}};
  if (has_steps) finding.per_step = figures.uploads_per_turn;
  if (figures.may_be_weights) finding.needs_fixing = false;
  finding.evidence = {{.table = "metric",
                       .rows = {metrics.last->Find(metric_names::kIrValueTensorToXlaData)->id},
                       .text = metric_names::kIrValueTensorToXlaData}};
  finding.figures = LargeTransferFigures(figures);
  return {finding};
}

// Judges transfers by reports that time the uploads but do not count their bytes. The cost of uploads
// that are the results of ops without lowering is in the finding about these ops.
Findings FindTimedUploads(const Metrics& metrics, const FallbackCopies& copies) {
  const MetricsState* state = metrics.steady();
  const MetricState* uploads = state ? TimedCopies(*state, Direction::kToDevice) : nullptr;
  if (!uploads || uploads->samples < policy::kManyTimedUploads) return {};
  double others = 0;
  bool executes = false;
  for (const char* other : {metric_names::kExecuteTime, metric_names::kExecuteReplicatedTime,
                            metric_names::kEagerOpExecuteTime}) {
    const MetricState* metric = state->Find(other);
    if (metric) others += metric->sum, executes = true;
  }
  if (!executes) return {};  // they were cut off, so a share of the rest means nothing
  for (const char* other : {metric_names::kCompileTime, metric_names::kEagerOpCompileTime}) {
    if (const MetricState* metric = state->Find(other)) others += metric->sum;
  }
  const double share = uploads->sum / (uploads->sum + others);
  if (share < policy::kTimedUploadShare) return {};
  const bool young =
      !metrics.recent && state->mark_step && *state->mark_step < policy::kYoungRunSteps;
  Finding finding{.needs_fixing = share >= policy::kMostlyUploadsShare && !young,
                  .count = uploads->samples,
                  .cost_ns = Whole(uploads->sum),
                  .reason = Reason{.type = ReasonType::kToDevice}};
  finding.evidence = {{.table = "metric", .rows = {metrics.last->Find(kTimedUploads)->id}}};
  TimedUploads figures{.share = share, .mean_ns = Whole(uploads->mean())};
  if (copies.uploads > 0) {
    finding.needs_fixing = false;
    figures.fallback_calls = copies.calls;
  }
  finding.figures = LargeTransferFigures(figures);
  return {finding};
}

absl::StatusOr<Findings> FindLargeTransfers(const Run& run) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  const bool has_times = std::ranges::any_of(transfers->rows, [](const TransferRow& row) {
    return row.ts_ns && row.dur_ns.value_or(0) > 0;
  });
  Findings uploads;
  XP_TRY(FindPageable(run, uploads));
  XP_TRY(FindOneByOne(run, uploads));
  if (has_times || !uploads.empty()) {
    XP_TRY(Findings findings, FindExposedCopies(run, *transfers));
    std::ranges::move(uploads, std::back_inserter(findings));
    return findings;
  }
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  XP_TRY(const FallbackCopies* copies, run.Get<FallbackCopies>());
  Findings findings = FindCountedBytes(*metrics, *copies);
  auto tells_uploads = [&] {
    return std::ranges::any_of(findings, [](const Finding& finding) {
      return finding.reason->type == ReasonType::kToDevice;
    });
  };
  if (!tells_uploads()) std::ranges::move(FindSmallUploads(*metrics), std::back_inserter(findings));
  if (!tells_uploads())
    std::ranges::move(FindTimedUploads(*metrics, *copies), std::back_inserter(findings));
  return findings;
}

}  // namespace

extern const Analyzer large_transfer{
    .name = "large_transfer",
    .summary = "copies between host and device that take a noticeable part of the time",
    .meaning =
        "Copies between host and device take a noticeable part of the time, and the device has nothing else to do while they run.",
    .looks_at = "transfers with times, else the metrics that count or time them",
    .find = FindLargeTransfers,
    .say = SayLargeTransfer,
    .needs = Needs::kReads,
    .thresholds = {policy::kCopyShare, policy::kCopiesPerStep, policy::kShortCopyNs,
                   policy::kLinkBytesPerSecond, policy::kManySmallUploads,
                   policy::kSmallUploadShare, policy::kBurstPauseNs, policy::kUploadsOfBurst,
                   policy::kUploadsOneByOne, policy::kManyTimedUploads, policy::kTimedUploadShare,
                   policy::kMostlyUploadsShare, policy::kYoungRunSteps},
    .spent_on = SpentOn::kCopying};

}  // namespace xlaprof
