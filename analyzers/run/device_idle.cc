#include "analyzers/run/device_idle.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/policy.h"
#include "analyzers/run/device_ops.h"
#include "analyzers/run/each_batch.h"
#include "profiler/vocabulary/ops.h"

namespace xlaprof {
namespace {

// Holds what the tables say of each device. It is read once, because a run may have thousands of
// devices.
class OfDevices {
 public:
  static absl::StatusOr<OfDevices> Read(const Store& store) {
    OfDevices out;
    XP_TRY(store.Each(
        "SELECT id, coalesce(process_id, 0), device FROM track WHERE device IS NOT NULL ORDER BY id",
        [&](int64_t id, int64_t process_id, std::string device) {
          out.tracks_[{process_id, std::move(device)}].push_back(id);
        }));
    XP_TRY(store.Each(
        "SELECT coalesce(process_id, 0), device, ts_ns, dur_ns FROM execution WHERE ts_ns IS NOT NULL "
        "AND dur_ns > 0",
        [&](int64_t process_id, OptText device, int64_t ts_ns, int64_t dur_ns) {
          out.executions_[{process_id, std::move(device)}].push_back({ts_ns, ts_ns + dur_ns});
        }));
    return out;
  }
  std::vector<int64_t> Tracks(const DeviceTime& device) const {
    const auto found = tracks_.find({device.process_id, device.device});
    return found == tracks_.end() ? std::vector<int64_t>() : found->second;
  }
  // Appends the executions of a device, and those of its process that name no device.
  void AddExecutions(const DeviceTime& device, std::vector<Interval>& out) const {
    for (const OptText& name : {OptText(device.device), OptText()}) {
      const auto found = executions_.find({device.process_id, name});
      if (found != executions_.end())
        out.insert(out.end(), found->second.begin(), found->second.end());
    }
  }

 private:
  std::map<std::pair<int64_t, std::string>, std::vector<int64_t>> tracks_;
  std::map<std::pair<int64_t, OptText>, std::vector<Interval>> executions_;
};

// Returns the busy time and the executions of a device. Between the ops of one execution a device
// is not idle. The ops are only recorded incompletely, because a CPU shows only the ops that it
// times.
std::vector<Interval> Occupied(const Store& store, const OfDevices& tables,
                               const DeviceTime& device) {
  std::vector<Interval> out = device.busy;
  tables.AddExecutions(device, out);
  return Union(Inside(store.slice(), std::move(out)));
}

absl::StatusOr<std::optional<int64_t>> StartOfMainProgram(const Store& store,
                                                          std::vector<int64_t> track_ids) {
  const StringId module = store.Find(TextOf(Category::kModule));
  if (module == 0 || track_ids.empty()) return std::optional<int64_t>();
  struct Program {
    int64_t ns = 0, first_ns = INT64_MAX;
  };
  std::map<StringId, Program> programs;
  XP_TRY(EachEvent(store,
                   {.columns = kStart | kDuration | kName | kCategory,
                    .track_ids = std::move(track_ids),
                    .categories = {module}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.category[i] != module) return;
                     Program& program = programs[batch.name[i]];
                     program.ns += std::max<int64_t>(0, batch.dur_ns[i]);
                     program.first_ns = std::min(program.first_ns, batch.ts_ns[i]);
                   }));
  std::optional<int64_t> start;
  int64_t most = 0;
  for (const auto& [name, program] : programs) {
    if (program.ns > most) most = program.ns, start = program.first_ns;
  }
  return start;
}

// Returns whether a device worked in the steady steps of its process.
bool WorkedInSteps(const DeviceTime& time, const Steps& steps) {
  const auto window = steps.SteadyWindow(time.process_id);
  return window && Overlap(time.busy, *window) > 0;
}

// Finds the processes in which some device worked in the steady steps.
std::set<int64_t> StepProcesses(const DeviceTimes& times, const Steps& steps) {
  std::set<int64_t> processes;
  for (const DeviceTime& time : times.devices) {
    if (WorkedInSteps(time, steps)) processes.insert(time.process_id);
  }
  return processes;
}

// Returns whether only copies were recorded on a device: nothing then shows whether it worked.
absl::StatusOr<bool> HasOnlyCopies(const Run& run, const DeviceTime& time) {
  constexpr size_t kMostCopies = 10'000;  // a device with more has other ops, too
  if (time.from != BusyFrom::kOps || time.on_host_threads || time.busy.size() > kMostCopies ||
      double(time.busy_ns) >= policy::kBusyDeviceShare * double(time.span().length_ns()))
    return false;
  XP_TRY(const DeviceOps* ops, run.Get<DeviceOps>());
  const auto of_device = ops->by_device.find({time.process_id, time.device});
  return of_device != ops->by_device.end() &&
         std::ranges::all_of(of_device->second,
                             [&](const auto& op) {
                               return KindOfKernel(run.store().Text(op.first)) == OpKind::kCopy;
                             });
}

absl::StatusOr<DeviceIdle> Measure(const Run& run, const OfDevices& tables, DeviceTime time,
                                   const Steps& steps, const std::set<int64_t>& step_processes) {
  const Store& store = run.store();
  DeviceIdle device{.time = std::move(time)};
  device.occupied = Occupied(store, tables, device.time);
  const Interval span{device.occupied.front().begin_ns, device.occupied.back().end_ns};
  device.steady = span;
  XP_TRY(const bool has_only_copies, HasOnlyCopies(run, device.time));
  if (has_only_copies) {
    device.steady = {span.end_ns, span.end_ns};
    device.takes_part = false;
  } else if (step_processes.contains(device.time.process_id) &&
             !WorkedInSteps(device.time, steps)) {
    // The steps run on other devices. This one is not idle in them, because it takes no part.
    device.steady = {span.end_ns, span.end_ns};
    device.takes_part = false;
  } else if (auto window = steps.SteadyWindow(device.time.process_id)) {
    // The host works until its last step ends, even after the device's last execution.
    device.steady = {window->begin_ns, std::max(window->end_ns, span.end_ns)};
    device.chances = steps.TimedSteady(device.time.process_id);
    device.by_steps = true;
  } else if (steps.timed > 0) {
    device.steady.begin_ns = span.end_ns;  // all of its steps are warm-up
  } else {
    XP_TRY(auto start, StartOfMainProgram(store, tables.Tracks(device.time)));
    if (start) device.steady.begin_ns = *start;
  }
  if (!device.takes_part) return device;
  device.warm_up = {span.begin_ns, std::clamp(device.steady.begin_ns, span.begin_ns, span.end_ns)};
  device.warm_up_idle_ns = device.warm_up.length_ns() - Overlap(device.occupied, device.warm_up);
  int64_t free_from = device.steady.begin_ns;
  auto take = [&](int64_t until_ns) {
    until_ns = std::min(until_ns, device.steady.end_ns);
    if (until_ns <= free_from) return;
    device.gaps.push_back({free_from, until_ns});
    device.idle_ns += until_ns - free_from;
  };
  int64_t executions = 0;
  for (const Interval& busy : device.occupied) {
    take(busy.begin_ns);
    free_from = std::max(free_from, busy.end_ns);
    executions += busy.begin_ns >= device.steady.begin_ns;
  }
  take(device.steady.end_ns);
  if (!device.by_steps) device.chances = executions;
  return device;
}

}  // namespace

int64_t Overlap(const std::vector<Interval>& sorted, Interval with) {
  int64_t sum = 0;
  auto it = std::upper_bound(sorted.begin(), sorted.end(), with.begin_ns,
                             [](int64_t t, const Interval& i) { return t < i.end_ns; });
  for (; it != sorted.end() && it->begin_ns < with.end_ns; ++it) {
    sum += std::min(it->end_ns, with.end_ns) - std::max(it->begin_ns, with.begin_ns);
  }
  return sum;
}

OptInt IdleTime::most_ns() const {
  OptInt most;
  for (const DeviceIdle& device : devices) {
    if (device.takes_part) most = std::max(most.value_or(0), device.idle_ns);
  }
  return most;
}

absl::StatusOr<IdleTime> IdleTime::Of(const Run& run) {
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  XP_TRY(const OfDevices tables, OfDevices::Read(run.store()));
  IdleTime idle;
  const std::set<int64_t> step_processes = StepProcesses(*times, *steps);
  for (const DeviceTime& time : times->devices) {
    XP_TRY(DeviceIdle device, Measure(run, tables, time, *steps, step_processes));
    idle.devices.push_back(std::move(device));
  }
  return idle;
}

}  // namespace xlaprof
