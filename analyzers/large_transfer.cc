// Finds copies between host and device that are a real part of the time: by the time in which the
// device had nothing else to do while they ran, else, without a clock, by what their bytes take at
// least.
#include "analyzers/large_transfer.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/metrics.h"
#include "analyzers/run/steps.h"
#include "core/base/source_place.h"
#include "core/base/whole.h"

namespace xlaprof {
namespace {

// XProf's "moderate" for input, of the steady time.
constexpr double kTimeShare = 0.05;
// A fast host link (PCIe 4.0 x16 gives 20 to 25 GB/s, pageable memory half of that): what a copy
// takes at least.
constexpr double kLinkBytesPerSecond = 20e9;
// Fewer than one in two steps is no pattern (a checkpoint, a log every tenth step).
constexpr double kRepeats = 0.5;
constexpr size_t kMaxEvidence = 8;

struct Copies {
  int64_t count = 0, ns = 0, exposed_ns = 0, bytes = 0, with_bytes = 0;
  OptText file, function, scope;
  OptInt line;
  struct Copy {
    int64_t row = 0, ts_ns = 0, dur_ns = 0, exposed_ns = 0;
    OptInt bytes;
  };
  std::vector<Copy> largest;
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

absl::StatusOr<Findings> FromRows(const Run& run) {
  Findings findings;
  XP_TRY(const IdleTime* idle_time, run.Get<IdleTime>());
  std::map<int64_t, std::vector<Interval>> busy;  // of any device of a process
  std::optional<Interval> steady;                 // the longest
  int64_t timed_steady = 0;
  for (const DeviceIdle& device : idle_time->devices) {
    std::vector<Interval>& all = busy[device.time.process_id];
    all.insert(all.end(), device.occupied.begin(), device.occupied.end());
    if (steady && device.steady.length_ns() <= steady->length_ns()) continue;
    steady = device.steady;
    timed_steady = device.by_steps ? device.chances : 0;
  }
  for (auto& [process, all] : busy) all = Union(std::move(all));
  if (!steady || steady->length_ns() <= 0) return findings;

  std::map<std::tuple<Direction, std::string, std::string>, Copies>
      groups;  // direction, site, scope
  XP_TRY(run.store().Each(
      "SELECT t.id, coalesce(t.process_id, 0), t.direction, t.bytes, t.ts_ns, t.dur_ns, t.scope, "
      "s.file, s.function, s.line "
      "FROM transfer t LEFT JOIN site s ON s.id = t.site_id WHERE t.ts_ns IS NOT NULL AND t.dur_ns "
      "> 0 ORDER BY t.id",
      [&](int64_t id, int64_t process, Direction direction, OptInt bytes, int64_t ts_ns,
          int64_t dur_ns, OptText scope, OptText file, OptText function, OptInt line) {
        const Interval in{std::max(ts_ns, steady->begin_ns),
                          std::min(ts_ns + dur_ns, steady->end_ns)};
        if (in.length_ns() <= 0) return;
        std::string place = line ? SourcePlace{file.value_or(""), line}.text() : "";
        Copies& group = groups[{direction, place, scope.value_or("")}];
        ++group.count;
        group.ns += in.length_ns();
        // A read waits for its value: while the device works, that is a sync_point's matter and not
        // the copy.
        const int64_t exposed = in.length_ns() - Overlap(busy[process], in);
        group.exposed_ns += exposed;
        if (bytes) group.bytes += *bytes, ++group.with_bytes;
        group.file = file, group.function = function, group.line = line, group.scope = scope;
        group.largest.push_back({id, ts_ns, dur_ns, exposed, bytes});
      }));
  for (auto& [key, group] : groups) {
    const auto& [direction, place, scope] = key;
    const double share = double(group.exposed_ns) / double(steady->length_ns());
    if (share < kTimeShare) continue;
    Finding finding{.count = group.count, .cost_ns = group.exposed_ns};
    if (timed_steady > 0) finding.per_step = double(group.count) / double(timed_steady);
    if (group.count >= 2 && finding.per_step.value_or(1) >= kRepeats)
      finding.severity = Severity::kWarning;
    finding.subject = {.file = group.file, .line = group.line, .function = group.function};
    if (group.scope) finding.subject.scope = group.scope->substr(group.scope->rfind('/') + 1);
    finding.reason = Reason{.type = ReasonOf(direction)};
    ExposedCopies figures{.direction = direction, .share = share};
    if (group.with_bytes > 0) figures.mean_bytes = double(group.bytes) / double(group.with_bytes);
    std::ranges::stable_sort(group.largest, std::greater<>(), &Copies::Copy::exposed_ns);
    for (size_t i = 0; i < group.largest.size() && i < kMaxEvidence; ++i) {
      const Copies::Copy& copy = group.largest[i];
      finding.evidence.push_back(
          {.table = "transfer", .rows = {copy.row}, .ts_ns = copy.ts_ns, .dur_ns = copy.dur_ns});
      figures.bytes_of_evidence.push_back(copy.bytes);
    }
    finding.figures = LargeTransferFigures(std::move(figures));
    findings.push_back(std::move(finding));
  }
  return findings;
}

constexpr const char* kTimedUploads = "TransferToDeviceTime";

// The metric that times the copies themselves; null: there is none. Reads wait for the execution,
// so what times them is not the copies'.
const MetricState* TimedCopies(const MetricsState& state, Direction direction) {
  const MetricState* timed =
      direction == Direction::kToDevice ? state.Find(kTimedUploads) : nullptr;
  return timed && timed->unit == "ns" ? timed : nullptr;
}

Turn TurnOf(bool has_steps) { return has_steps ? Turn::kStep : Turn::kExecution; }

// Bytes alone: a finding if at the link's best speed they take a real part of what execution takes.
// Reports without step marks (2019) are judged by the execution: a step has at least one.
Findings FromMetrics(const Metrics& metrics) {
  Findings findings;
  const MetricsState* state = metrics.steady();
  const MetricState* execute = state ? state->Find("ExecuteTime") : nullptr;
  if (!execute || execute->sum <= 0) return findings;
  const bool has_steps = state->mark_step.has_value();
  const int64_t turns = has_steps ? *state->mark_step : execute->samples;
  if (turns < 2) return findings;
  for (auto [name, direction] : {std::pair("InboundData", Direction::kFromDevice),
                                 std::pair("OutboundData", Direction::kToDevice)}) {
    const MetricState* data = state->Find(name);
    if (!data || data->samples <= 0) continue;
    // In one cumulative report the first upload (all weights) is part of the sum; what is usual is
    // not moved by it.
    const OptReal usual = metrics.recent ? OptReal(data->mean()) : data->usual();
    const double bytes = usual.value_or(data->mean()) * double(data->samples);
    const double per_turn = bytes / double(turns), copies = double(data->samples) / double(turns);
    const int64_t least_ns = Whole(bytes / kLinkBytesPerSecond * 1e9);
    if (double(least_ns) < kTimeShare * execute->sum || copies < kRepeats) continue;
    Finding finding{.severity = usual ? Severity::kWarning : Severity::kInfo,
                    .count = data->samples};
    if (has_steps) finding.per_step = copies;
    finding.reason = Reason{.type = ReasonOf(direction)};
    CopiedBytes figures{.direction = direction,
                        .turn = TurnOf(has_steps),
                        .bytes_per_turn = per_turn,
                        .copies_per_turn = copies,
                        .usual_is_known = usual.has_value(),
                        .link_bytes_per_second = kLinkBytesPerSecond,
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

constexpr int64_t kYoungTurns = 20;  // of a run whose weights may be all that was uploaded

// Numbers and small tensors that Python makes and graphs use are uploaded one by one: each costs a
// call, however few its bytes are. Only where the report does not time the copies themselves.
Findings FromValues(const Metrics& metrics) {
  constexpr int64_t kMany = 100;
  constexpr double kSeenShare = 0.5;  // of the execution; a warning where it takes more than that
  const MetricsState* state = metrics.steady();
  const MetricState* execute = state ? state->Find("ExecuteTime") : nullptr;
  const MetricState* values = state ? state->Find("IrValueTensorToXlaData") : nullptr;
  if (!execute || !values || state->Find(kTimedUploads)) return {};
  const bool has_steps = state->mark_step.has_value();
  const int64_t turns = has_steps ? *state->mark_step : execute->samples;
  if (turns < 2 || values->samples < std::max(kMany, turns) ||
      values->sum <= kSeenShare * execute->sum)
    return {};
  SmallUploads figures{.turn = TurnOf(has_steps),
                       .uploads_per_turn = double(values->samples) / double(turns),
                       .mean_ns = Whole(values->mean()),
                       .execute_ns = Whole(execute->sum),
                       .has_first_upload = !metrics.recent.has_value(),
                       .may_be_weights = turns < kYoungTurns && !metrics.recent};
  Finding finding{.severity = values->sum > execute->sum ? Severity::kWarning : Severity::kInfo,
                  .count = values->samples,
                  .cost_ns = Whole(values->sum),
                  .reason = Reason{.type = ReasonType::kToDevice}};
  if (has_steps) finding.per_step = figures.uploads_per_turn;
  if (figures.may_be_weights) finding.severity = Severity::kInfo;
  finding.evidence = {{.table = "metric",
                       .rows = {metrics.last->Find("IrValueTensorToXlaData")->id},
                       .text = "IrValueTensorToXlaData"}};
  finding.figures = LargeTransferFigures(figures);
  return {finding};
}

// Reports that time the uploads and say nothing of their bytes.
Findings FromTimes(const Metrics& metrics) {
  constexpr int64_t kMany = 10;
  constexpr double kSeenShare = 0.3, kMostShare = 0.5;  // of uploads, executions and compilations
  const MetricsState* state = metrics.steady();
  const MetricState* uploads = state ? TimedCopies(*state, Direction::kToDevice) : nullptr;
  if (!uploads || uploads->samples < kMany) return {};
  double others = 0;
  bool executes = false;
  for (const char* other : {"ExecuteTime", "ExecuteReplicatedTime", "EagerOpExecuteTime"}) {
    const MetricState* metric = state->Find(other);
    if (metric) others += metric->sum, executes = true;
  }
  if (!executes) return {};  // they were cut off: a share of what is left says nothing
  for (const char* other : {"CompileTime", "EagerOpCompileTime"}) {
    if (const MetricState* metric = state->Find(other)) others += metric->sum;
  }
  const double share = uploads->sum / (uploads->sum + others);
  if (share < kSeenShare) return {};
  const bool young = !metrics.recent && state->mark_step && *state->mark_step < kYoungTurns;
  Finding finding{.severity = share >= kMostShare && !young ? Severity::kWarning : Severity::kInfo,
                  .count = uploads->samples,
                  .cost_ns = Whole(uploads->sum),
                  .reason = Reason{.type = ReasonType::kToDevice}};
  finding.evidence = {{.table = "metric", .rows = {metrics.last->Find(kTimedUploads)->id}}};
  finding.figures =
      LargeTransferFigures(TimedUploads{.share = share, .mean_ns = Whole(uploads->mean())});
  return {finding};
}

absl::StatusOr<Findings> FindLargeTransfer(const Run& run) {
  XP_TRY(auto timed, run.store().One<int64_t>(
                         "SELECT count(*) FROM transfer WHERE ts_ns IS NOT NULL AND dur_ns > 0"));
  if (timed.value_or(0) > 0) return FromRows(run);
  XP_TRY(const Metrics* metrics, run.Get<Metrics>());
  Findings findings = FromMetrics(*metrics);
  auto tells_uploads = [&] {
    return std::ranges::any_of(findings, [](const Finding& finding) {
      return finding.reason->type == ReasonType::kToDevice;
    });
  };
  if (!tells_uploads()) std::ranges::move(FromValues(*metrics), std::back_inserter(findings));
  if (!tells_uploads()) std::ranges::move(FromTimes(*metrics), std::back_inserter(findings));
  return findings;
}

}  // namespace

extern const Analyzer large_transfer{
    .name = "large_transfer",
    .summary = "copies between host and device that take a real part of the time",
    .meaning =
        "Copies between host and device take a noticeable part of the time, and the device "
        "has nothing else to do while they run.",
    .looks_at = "transfers with times, else InboundData and OutboundData",
    .find = FindLargeTransfer,
    .say = SayLargeTransfer};

}  // namespace xlaprof
