// Finds ops in which a device is busy but computes nothing: it waits for a copy (from the host's
// memory, if operands are offloaded) or for infeed, or it communicates with other devices. Ops are
// grouped by base name, so copy-done.2 and copy-done.5 are one finding.
#include "analyzers/device_wait.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_ops.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/steps.h"
#include "base/source_place.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

constexpr size_t kMaxWaitRows = 12;

// Returns what an op waits for, or nothing for ops that work. The operands of a copy may show later
// that it copies the host's memory.
std::optional<WaitedFor> WaitsFor(std::string_view base) {
  if (IsCollectiveOp(base)) return WaitedFor::kCollective;
  const Op& op = FindInstruction(base);
  const bool is_part = op.Has(OpTrait::kStarts) || op.Has(OpTrait::kEnds);
  switch (op.kind) {
    case OpKind::kCopy:
      if (is_part) return WaitedFor::kCopy;
      break;
    case OpKind::kInfeed:
      return WaitedFor::kInfeed;
    case OpKind::kOutfeed:
      return WaitedFor::kOutfeed;
    case OpKind::kSendRecv:
      return WaitedFor::kSendRecv;
    default:
      break;
  }
  // Any op may be run beside the others.
  if (base.ends_with("-done")) return WaitedFor::kAsync;
  return {};
}

ReasonType ReasonOf(WaitedFor waited_for) {
  switch (waited_for) {
    case WaitedFor::kCopy:
      return ReasonType::kCopy;
    case WaitedFor::kHostCopy:
      return ReasonType::kHostOffload;
    case WaitedFor::kCollective:
      return ReasonType::kCollective;
    case WaitedFor::kInfeed:
      return ReasonType::kInfeed;
    case WaitedFor::kOutfeed:
      return ReasonType::kOutfeed;
    case WaitedFor::kSendRecv:
      return ReasonType::kSendRecv;
    case WaitedFor::kAsync:
      return ReasonType::kAsync;
  }
  return ReasonType::kUnknown;
}

std::string_view BaseName(std::string_view name) {
  while (true) {
    const size_t dot = name.rfind('.');
    if (dot == name.npos || dot == 0) return name;
    std::string_view tail = name.substr(dot + 1);
    if (tail != "clone" && tail != "remat" && !std::all_of(tail.begin(), tail.end(), ::isdigit))
      return name;
    name = name.substr(0, dot);
  }
}

// Ops of one base name on one device.
struct Group {
  std::map<StringId, DeviceOp> ops;
  int64_t count = 0;
  int64_t ns = 0;  // time in which at least one of them ran
};
using Groups = std::map<std::string, Group>;  // by base name

// Returns the ops in which each device waits. Collective operations with unknown names are waits,
// too.
std::map<DeviceKey, Groups> WaitsByDevice(const DeviceOps& all) {
  std::map<DeviceKey, Groups> waits;
  for (const auto& [device, ops] : all.by_device) {
    Groups& groups = waits[device];
    for (const auto& [name, op] : ops) {
      const DeviceOps::Name& known = all.names.at(name);
      const std::string_view base = BaseName(known.op);
      if (!WaitsFor(base) && !known.is_collective) continue;
      Group& group = groups[std::string(base)];
      group.ops[name] = op;
      group.count += op.count;
    }
  }
  return waits;
}

// Sets the time of each group. It is a part of the device's busy time.
absl::Status MeasureGroups(const Run& run, const std::vector<DeviceTime>& times,
                           std::map<DeviceKey, Groups>& waits) {
  OpSets sets;
  std::vector<std::pair<DeviceKey, Group*>> groups;
  for (auto& [device, of_device] : waits) {
    for (auto& [base, group] : of_device) {
      for (const auto& [name, op] : group.ops) sets[device][name] = groups.size();
      groups.emplace_back(device, &group);
    }
  }
  if (groups.empty()) return absl::OkStatus();
  XP_TRY(const auto times_of, TimesOf(run, sets, groups.size()));
  for (const DeviceTime& time : times) {
    const DeviceKey device(time.process_id, time.device);
    const auto found = times_of.find(device);
    if (found == times_of.end()) continue;
    for (size_t i = 0; i < groups.size(); ++i) {
      if (groups[i].first != device) continue;
      for (const Interval& interval : found->second[i])
        groups[i].second->ns += Overlap(time.busy, interval);
    }
  }
  return absl::OkStatus();
}

void FillLocation(std::string_view location, Subject& subject) {
  SourcePlace place = SourcePlace::Parse(location);
  if (!place.function.empty()) subject.function = std::move(place.function);
  if (!place.line) return;
  subject.file = std::move(place.file);
  subject.line = place.line;
}

// Ops of one base name, on the device that waits most for them.
struct Worst {
  const Group* group = nullptr;
  int64_t process_id = 0;
  std::string device, least_device;
  double share = 0, least_share = 2;
  const Group* least = nullptr;
  int64_t devices = 0;
  bool on_host_threads = false;
  bool is_lockstep = true;  // all devices ran these ops equally often
};

// Finds, for each base name, the devices that wait most and least for it, as a part of their busy
// time.
std::map<std::string, Worst> WorstByBase(const std::map<DeviceKey, Groups>& waits,
                                         const std::vector<DeviceTime>& times) {
  std::map<DeviceKey, const DeviceTime*> time_of;
  for (const DeviceTime& time : times) time_of[{time.process_id, time.device}] = &time;
  std::map<std::string, Worst> by_base;
  for (const auto& [device, groups] : waits) {
    auto time = time_of.find(device);
    if (time == time_of.end() || time->second->busy_ns <= 0) continue;
    for (const auto& [base, group] : groups) {
      Worst& worst = by_base[base];
      const double share = double(group.ns) / double(time->second->busy_ns);
      ++worst.devices;
      if (share < worst.least_share)
        worst.least_share = share, worst.least = &group, worst.least_device = time->second->label;
      worst.is_lockstep &= worst.group == nullptr || worst.group->count == group.count;
      if (!worst.group || share > worst.share)
        worst.group = &group, worst.device = time->second->label, worst.share = share,
        worst.process_id = device.first, worst.on_host_threads = time->second->on_host_threads;
    }
  }
  return by_base;
}

// Compares the device that waits least with the one that waits most. All devices in a collective op
// end together, so the device that waits least came last.
std::optional<LeastWait> LeastOf(const Worst& worst, WaitedFor waited_for) {
  if (worst.devices < 2) return {};
  LeastWait least{.device = worst.least_device,
                  .share = worst.least_share,
                  .devices = worst.devices,
                  .is_late = waited_for == WaitedFor::kCollective &&
                             worst.least_share <= policy::kLateDeviceShare * worst.share};
  if (least.is_late && worst.is_lockstep && worst.least->ns < worst.group->ns)
    least.waiting_ns = worst.group->ns - worst.least->ns;
  return least;
}

absl::StatusOr<Finding> FindingOf(const Run& run, const DeviceOps& all, const std::string& base,
                                  const Worst& worst, int64_t timed_steps) {
  const Group& group = *worst.group;
  std::vector<std::pair<StringId, DeviceOp>> ops(group.ops.begin(), group.ops.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (ops.size() > kMaxWaitRows) ops.resize(kMaxWaitRows);
  Finding finding{.count = group.count, .cost_ns = group.ns};
  finding.subject.op = base;
  DeviceWaitFigures figures{.device = worst.device,
                            .share = worst.share,
                            .waited_for = WaitsFor(base).value_or(WaitedFor::kCollective),
                            .shares_cores = worst.on_host_threads};
  bool host_memory = false;
  for (const auto& [name, op] : ops) {
    XP_TRY(const DeviceOpDetails details, DetailsOf(run, name, op));
    host_memory |=
        details.host_memory && op.ns * policy::kHostMemoryOpPart >= group.ns;  // a large part
    if (details.location && !finding.subject.line) FillLocation(*details.location, finding.subject);
    WaitingOp& waiting = figures.ops.emplace_back(WaitingOp{.name = all.names.at(name).op,
                                                            .ns = op.ns,
                                                            .count = op.count,
                                                            .host_memory = details.host_memory});
    if (details.bytes && *details.bytes > 0 && op.longest_ns > 0) waiting.bytes = details.bytes;
    finding.evidence.push_back(
        {.table = "event", .rows = {op.event_id}, .ts_ns = op.ts_ns, .dur_ns = op.longest_ns});
  }
  if (figures.waited_for == WaitedFor::kCopy && host_memory)
    figures.waited_for = WaitedFor::kHostCopy;
  figures.least = LeastOf(worst, figures.waited_for);
  finding.reason = Reason{.type = ReasonOf(figures.waited_for)};
  if (timed_steps > 0) finding.per_step = double(group.count) / double(timed_steps);
  // Devices of one CPU wait for each other because they share its cores.
  const bool is_artefact = figures.shares_cores && figures.waited_for == WaitedFor::kCollective;
  if (worst.share >= policy::kDeviceWaitShare && group.count >= policy::kNotOnce && !is_artefact)
    finding.needs_fixing = true;
  finding.figures = std::move(figures);
  return finding;
}

absl::StatusOr<Findings> FindDeviceWaits(const Run& run) {
  Findings findings;
  XP_TRY(const DeviceOps* ops, run.Get<DeviceOps>());
  std::map<DeviceKey, Groups> waits = WaitsByDevice(*ops);
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  if (waits.empty() || times->devices.empty()) return findings;
  XP_TRY(MeasureGroups(run, times->devices, waits));
  XP_TRY(const Steps* steps, run.Get<Steps>());
  for (const auto& [base, worst] : WorstByBase(waits, times->devices)) {
    if (worst.share < policy::kDeviceWaitInfoShare) continue;
    XP_TRY(Finding finding, FindingOf(run, *ops, base, worst, steps->Timed(worst.process_id)));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer device_wait{
    .name = "device_wait",
    .summary = "ops in which a device is busy but only waits or communicates",
    .meaning =
        "The device counts as busy, but computes nothing: it waits for a copy or for data from the host, or it communicates with other devices. How much of the communication is waiting for a late device is only known if several devices show it.",
    .looks_at = "ops on device tracks",
    .find = FindDeviceWaits,
    .say = SayDeviceWait,
    .needs = Needs::kDevices,
    .thresholds = {policy::kDeviceWaitInfoShare, policy::kDeviceWaitShare, policy::kNotOnce,
                   policy::kLateDeviceShare, policy::kHostMemoryOpPart},
    .is_from_timeline = true};

}  // namespace xlaprof
