// Finds ops in which a device is busy but only waits: for a copy (from the host's memory, if
// operands are offloaded), for other devices, for infeed. Grouped by the op's base name
// (copy-done.2 and copy-done.5 are one finding).
#include "analyzers/device_wait.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "analyzers/analyzer.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/steps.h"
#include "core/base/category.h"
#include "core/base/source_place.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// From this part of the busy time on: XProf speaks of barriers from 10 % of a step on.
constexpr double kWaitShare = 0.10;
// Below that, but worth a line: XProf's "moderate".
constexpr double kInfoShare = 0.05;
constexpr int64_t kMinOccurrences = 2;  // once is no pattern
// A device that waits less than this part of the longest wait is the one that the others wait for.
constexpr double kLateShare = 0.5;
constexpr size_t kMaxEvidence = 12;
// Memory space 5 in XLA's layouts is the host's memory.
constexpr std::string_view kHostMemory = "S(5)";

// Returns what an op waits for; nothing for ops that work. A copy may turn out to be one of the
// host's memory when its operands are known.
std::optional<WaitedFor> WaitsFor(std::string_view base) {
  auto is = [&](std::string_view op) {
    return base == op || (base.starts_with(op) && base[op.size()] == '-');
  };
  if (base == "copy-done" || base == "copy-start-done" || base == "copy-start")
    return WaitedFor::kCopy;
  for (std::string_view op :
       {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute",
        "collective-broadcast", "ragged-all-to-all", "all-reduce-scatter"}) {
    if (is(op)) return WaitedFor::kCollective;
  }
  if (base.starts_with("nccl") || base.starts_with("rccl") || base.starts_with("ncclDevKernel"))
    return WaitedFor::kCollective;
  if (is("infeed")) return WaitedFor::kInfeed;
  if (is("outfeed")) return WaitedFor::kOutfeed;
  if (base == "send-done" || base == "recv-done" || base == "send" || base == "recv")
    return WaitedFor::kSendRecv;
  if (base.ends_with("-done") || base == "async-done") return WaitedFor::kAsync;
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

// "%copy-done.2 = f32[…] copy-done(…)" and "copy-done.2" are both op copy-done.2.
std::string_view OpName(std::string_view text) {
  if (text.starts_with('%')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" =("));
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

struct Op {
  int64_t ns = 0, count = 0;
  int64_t longest_ns = -1, chunk_id = 0, index = 0, event_id = 0, ts_ns = 0;
};
struct Group {
  std::map<StringId, Op> ops;
  int64_t ns = 0, count = 0;
};
using Groups = std::map<std::string, Group>;  // by base name

// Processes on several machines call their devices by the same names.
using Device = std::pair<int64_t, std::string>;  // process, name

absl::StatusOr<std::map<Device, Groups>> WaitsByDevice(const Run& run) {
  std::map<Device, Groups> out;
  const StringId op = run.store().Find(TextOf(Category::kOp)),
                 collective = run.store().Find(TextOf(Category::kCollective));
  std::map<int64_t, Device> device_of;
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
  XP_TRY(run.store().Each(
      "SELECT id, coalesce(process_id, 0), coalesce(device, 'CPU:0') FROM track WHERE "
      "kind IN ('host_thread', 'device', 'device_stream')",
      [&](int64_t id, int64_t process_id, std::string device) {
        device_of[id] = {process_id, std::move(device)};
        options.track_ids.push_back(id);
      }));
  if (device_of.empty() || (op == 0 && collective == 0)) return out;
  for (StringId id : {op, collective}) {
    if (id != 0) options.categories.push_back(id);
  }
  XP_TRY(EventScanner scanner, EventScanner::Make(run.store(), options));
  absl::flat_hash_map<StringId, std::string> base_of;  // "" for ops that work
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return out;
    Groups& groups = out[device_of[batch.track_id]];
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] == 0 || (batch.category[i] != op && batch.category[i] != collective))
        continue;
      if (batch.dur_ns[i] < 0) continue;
      auto [it, fresh] = base_of.try_emplace(batch.name[i]);
      if (fresh) {
        std::string_view base = BaseName(OpName(run.store().Text(batch.name[i])));
        if (WaitsFor(base) || batch.category[i] == collective) it->second = base;
      }
      if (it->second.empty()) continue;
      Group& group = groups[it->second];
      Op& one = group.ops[batch.name[i]];
      ++one.count, ++group.count;
      one.ns += batch.dur_ns[i], group.ns += batch.dur_ns[i];
      if (batch.dur_ns[i] > one.longest_ns) {
        one.longest_ns = batch.dur_ns[i], one.ts_ns = batch.ts_ns[i];
        one.chunk_id = batch.chunk_id, one.index = batch.first_index + int64_t(i);
        one.event_id = batch.first_event_id + int64_t(i);
      }
    }
  }
}

struct OpFacts {
  bool host_memory = false;
  std::optional<int64_t> bytes;
  std::optional<std::string> location;
};

// What name, arguments and the program's text say of one op.
absl::StatusOr<OpFacts> Look(const Run& run, StringId name, const Op& op) {
  OpFacts facts;
  std::string_view text = run.store().Text(name);
  facts.host_memory = text.find(kHostMemory) != text.npos;
  XP_TRY(std::vector<Argument> arguments, ReadArguments(run.store(), op.chunk_id, op.index));
  for (const Argument& argument : arguments) {
    if (auto* value = std::get_if<Text>(&argument.value)) {
      facts.host_memory |= run.store().Text(value->id).find(kHostMemory) != std::string_view::npos;
    } else if (run.store().Text(argument.key) == "bytes_accessed") {
      if (auto* u = std::get_if<uint64_t>(&argument.value)) facts.bytes = int64_t(*u);
      if (auto* i = std::get_if<int64_t>(&argument.value)) facts.bytes = *i;
    }
  }
  // The op in the program's text, and the op that it waits for (its operands).
  XP_TRY(run.store().Each(
      "SELECT n.shape, coalesce(n.location, ''), coalesce(group_concat(o.shape, ' '), '') FROM "
      "graph_node n "
      "LEFT JOIN graph_node o ON o.graph_id = n.graph_id AND o.op LIKE '%-start' AND "
      "(',' || n.operands || ',') LIKE ('%,' || o.idx || ',%') WHERE n.name = ?1 GROUP BY "
      "n.graph_id, n.idx",
      [&](std::string shape, std::string location, std::string operands) {
        facts.host_memory |= (shape + operands).find(kHostMemory) != std::string::npos;
        if (!location.empty() && !facts.location) facts.location = location;
      },
      OpName(text)));
  return facts;
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
  int64_t devices = 0;
};

// Finds, for each base name, the devices that wait most and least for it, as a part of their busy
// time.
std::map<std::string, Worst> WorstByBase(const std::map<Device, Groups>& waits,
                                         const std::vector<DeviceTime>& times) {
  std::map<Device, const DeviceTime*> time_of;
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
        worst.least_share = share, worst.least_device = time->second->label;
      if (!worst.group || share > worst.share)
        worst.group = &group, worst.device = time->second->label, worst.share = share,
        worst.process_id = device.first;
    }
  }
  return by_base;
}

// Compares the device that waits least with the one that waits most. All that take part in a
// collective op end together, so the device that waits least came last.
std::optional<LeastWait> LeastOf(const Worst& worst, WaitedFor waited_for) {
  if (worst.devices < 2) return {};
  return LeastWait{.device = worst.least_device,
                   .share = worst.least_share,
                   .devices = worst.devices,
                   .is_late = waited_for == WaitedFor::kCollective &&
                              worst.least_share <= kLateShare * worst.share};
}

absl::StatusOr<Finding> FindingOf(const Run& run, const std::string& base, const Worst& worst,
                                  int64_t timed_steps) {
  const Group& group = *worst.group;
  std::vector<std::pair<StringId, Op>> ops(group.ops.begin(), group.ops.end());
  std::stable_sort(ops.begin(), ops.end(),
                   [](const auto& a, const auto& b) { return a.second.ns > b.second.ns; });
  if (ops.size() > kMaxEvidence) ops.resize(kMaxEvidence);
  Finding finding{.count = group.count, .cost_ns = group.ns};
  finding.subject.op = base;
  DeviceWaitFigures figures{.device = worst.device,
                            .share = worst.share,
                            .waited_for = WaitsFor(base).value_or(WaitedFor::kCollective)};
  bool host_memory = false;
  for (const auto& [name, op] : ops) {
    XP_TRY(OpFacts facts, Look(run, name, op));
    host_memory |= facts.host_memory && op.ns * 10 >= group.ns;  // of an op that matters
    if (facts.location && !finding.subject.line) FillLocation(*facts.location, finding.subject);
    WaitingOp& waiting =
        figures.ops.emplace_back(WaitingOp{.name = std::string(OpName(run.store().Text(name))),
                                           .ns = op.ns,
                                           .count = op.count,
                                           .host_memory = facts.host_memory});
    if (facts.bytes && *facts.bytes > 0 && op.longest_ns > 0) waiting.bytes = facts.bytes;
    finding.evidence.push_back(
        {.table = "event", .rows = {op.event_id}, .ts_ns = op.ts_ns, .dur_ns = op.longest_ns});
  }
  if (figures.waited_for == WaitedFor::kCopy && host_memory)
    figures.waited_for = WaitedFor::kHostCopy;
  figures.least = LeastOf(worst, figures.waited_for);
  finding.reason = Reason{.type = ReasonOf(figures.waited_for)};
  if (timed_steps > 0) finding.per_step = double(group.count) / double(timed_steps);
  if (worst.share >= kWaitShare && group.count >= kMinOccurrences)
    finding.severity = Severity::kWarning;
  finding.figures = std::move(figures);
  return finding;
}

absl::StatusOr<Findings> FindDeviceWaits(const Run& run) {
  Findings findings;
  XP_TRY(auto waits, WaitsByDevice(run));
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  if (waits.empty() || times->devices.empty()) return findings;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  for (const auto& [base, worst] : WorstByBase(waits, times->devices)) {
    if (worst.share < kInfoShare) continue;
    XP_TRY(Finding finding, FindingOf(run, base, worst, steps->Timed(worst.process_id)));
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

extern const Analyzer device_wait{.name = "device_wait",
                                  .summary = "ops in which a device is busy but only waits",
                                  .meaning =
                                      "The device is busy, but only with waiting: for a "
                                      "copy, for another device in a collective operation, "
                                      "or for data from the host.",
                                  .looks_at = "ops on device tracks",
                                  .find = FindDeviceWaits,
                                  .say = SayDeviceWait,
                                  .needs = Needs::kDevices,
                                  .is_from_timeline = true};

}  // namespace xlaprof
