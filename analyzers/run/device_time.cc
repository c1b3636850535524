#include "analyzers/run/device_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "analyzers/run/async_ops.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_to_device.h"

namespace xlaprof {
namespace {

struct Key {
  std::string device;
  int64_t process_id = 0;
  auto operator<=>(const Key&) const = default;
};
// The busy intervals of a device, by the kind of their events.
struct BusyBy {
  bool on_host_threads = false;  // a CPU's client ran ops of the device
  std::array<std::vector<Interval>, 3> intervals;
  std::vector<Interval>& operator[](BusyFrom from) { return intervals[size_t(from)]; }
  // Returns the best kind that has events.
  BusyFrom Best() const {
    const auto best = std::ranges::find_if(intervals, [](const auto& all) { return !all.empty(); });
    return best == intervals.end() ? BusyFrom::kExecutions : BusyFrom(best - intervals.begin());
  }
};
using Busy = std::map<Key, BusyBy>;

struct Track {
  int64_t process_id = 0;
  std::string device;  // "" for a host thread, whose ops name their device themselves
};

// Appends an event. Events arrive sorted by start and are mostly nested, so an event that touches
// the last interval extends it.
void Append(std::vector<Interval>& out, int64_t begin_ns, int64_t end_ns) {
  if (end_ns <= begin_ns) return;
  if (!out.empty() && begin_ns >= out.back().begin_ns && begin_ns <= out.back().end_ns) {
    out.back().end_ns = std::max(out.back().end_ns, end_ns);
  } else {
    out.push_back({begin_ns, end_ns});
  }
}

class Reading {
 public:
  Reading(const Store& store, Busy& busy) : store_(store), busy_(busy) {}

  // Reads modules first. If a device has modules, its ops, which are a hundred times as many, are
  // not read.
  absl::Status Run() {
    XP_TRY(store_.Each(
        "SELECT id, process_id, device FROM track WHERE kind IN ('host_thread', 'device', "
        "'device_stream')",
        [&](int64_t id, OptInt process, OptText device) {
          tracks_[id] = {process.value_or(0), device.value_or("")};
        }));
    XP_TRY(Scan({TextOf(Category::kModule)}, BusyFrom::kModules));
    return Scan({TextOf(Category::kOp), TextOf(Category::kCollective)}, BusyFrom::kOps);
  }

 private:
  bool HasModules(const Track& track) const {
    auto found = busy_.find({track.device, track.process_id});
    return found != busy_.end() && !found->second[BusyFrom::kModules].empty();
  }

  absl::Status Scan(std::initializer_list<std::string_view> categories, BusyFrom from) {
    EventScanner::Options options{.columns = kStart | kDuration | kCategory};
    for (std::string_view name : categories) {
      if (StringId id = store_.Find(name)) options.categories.push_back(id);
    }
    for (const auto& [id, track] : tracks_) {
      if (from == BusyFrom::kModules || !HasModules(track)) options.track_ids.push_back(id);
    }
    if (options.categories.empty() || options.track_ids.empty()) return absl::OkStatus();
    const std::vector<StringId> wanted = options.categories;
    return EachBatch(store_, std::move(options), [&](const EventBatch& batch) -> absl::Status {
      const Track& track = tracks_[batch.track_id];
      const bool on_device = !track.device.empty();
      // The busy time of the device whose ops are being added.
      std::vector<Interval>* out =
          on_device ? &busy_[{track.device, track.process_id}][from] : nullptr;
      int64_t out_ordinal = -1;
      std::vector<int64_t> ordinals;  // of devices, read at the first op
      for (size_t i = 0; i < batch.size; ++i) {
        if (std::find(wanted.begin(), wanted.end(), batch.category[i]) == wanted.end() ||
            batch.dur_ns[i] <= 0)
          continue;
        if (!on_device) {
          if (ordinals.empty()) {
            XP_TRY(ordinals, CpuOrdinals(store_, batch));
          }
          if (ordinals[i] != out_ordinal) {
            out_ordinal = ordinals[i];
            BusyBy& busy = busy_[{CpuDevice(out_ordinal), track.process_id}];
            busy.on_host_threads = true;
            out = &busy[from];
          }
        }
        Append(*out, batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]);
      }
      return absl::OkStatus();
    });
  }

  const Store& store_;
  Busy& busy_;
  std::map<int64_t, Track> tracks_;
};

// Intervals of more tracks are sorted instead of merged one by one.
constexpr int kFewTracks = 8;

}  // namespace

std::vector<Interval> Inside(const Slice& slice, std::vector<Interval> intervals) {
  for (Interval& i : intervals) {
    i.begin_ns = std::max(i.begin_ns, slice.from_ns.value_or(i.begin_ns));
    i.end_ns = std::min(i.end_ns, slice.to_ns.value_or(i.end_ns));
  }
  return intervals;
}

std::vector<Interval> Union(std::vector<Interval> intervals) {
  auto before = [](const Interval& a, const Interval& b) {
    return std::pair(a.begin_ns, a.end_ns) < std::pair(b.begin_ns, b.end_ns);
  };
  // The intervals are mostly those of a few tracks, one track after the other, each in order.
  auto sorted = std::is_sorted_until(intervals.begin(), intervals.end(), before);
  for (int runs = 1; sorted != intervals.end(); ++runs) {
    if (runs == kFewTracks) {
      std::sort(intervals.begin(), intervals.end(), before);
      break;
    }
    auto next = std::is_sorted_until(sorted, intervals.end(), before);
    std::inplace_merge(intervals.begin(), sorted, next, before);
    sorted = next;
  }
  std::vector<Interval> out;
  for (const Interval& i : intervals) Append(out, i.begin_ns, i.end_ns);
  return out;
}

// Sets labels such as "GPU:0 of rank 1". If no source knows a rank, the label has the host's name
// or the process's number.
static absl::Status SetLabels(const Store& store, std::vector<DeviceTime>& times) {
  struct Process {
    OptInt rank;
    OptText host;
  };
  std::map<int64_t, Process> process_of;
  std::map<std::string, std::set<std::string>> hosts;  // by device
  XP_TRY(store.Each(
      "SELECT id, rank, host FROM process",
      [&](int64_t id, OptInt rank, OptText host) { process_of[id] = {rank, std::move(host)}; }));
  std::map<std::string, int> count;
  for (const DeviceTime& time : times) {
    ++count[time.device];
    hosts[time.device].insert(process_of[time.process_id].host.value_or(""));
  }
  for (DeviceTime& time : times) {
    const Process& process = process_of[time.process_id];
    const int same = count[time.device];
    time.label = time.device;
    if (same == 1) continue;
    time.label += process.rank ? fmt::format(" of rank {}", *process.rank)
                  : process.host && int(hosts[time.device].size()) == same
                      ? fmt::format(" of {}", *process.host)
                      : fmt::format(" of process {}", time.process_id);
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceTimes> DeviceTimes::Of(const Run& run) {
  const Store& store = run.store();
  Busy busy;
  XP_TRY(Reading(store, busy).Run());
  XP_TRY(const AsyncOps* async, run.Get<AsyncOps>());
  for (const AsyncOp& op : async->ops) {
    const auto device = busy.find({CpuDevice(op.ordinal), op.process_id});
    if (device != busy.end() && device->second.on_host_threads)
      device->second[BusyFrom::kOps].push_back({op.begin_ns, op.end_ns});
  }
  XP_TRY(store.Each(
      "SELECT process_id, device, ts_ns, dur_ns FROM execution WHERE ts_ns IS NOT NULL "
      "AND dur_ns > 0",
      [&](OptInt process, OptText device, int64_t ts_ns, int64_t dur_ns) {
        busy[{device.value_or("device"), process.value_or(0)}][BusyFrom::kExecutions].push_back(
            {ts_ns, ts_ns + dur_ns});
      }));
  const Slice& slice = store.slice();
  std::vector<DeviceTime> out;
  bool any_events = false;
  std::set<int64_t> accelerated;  // processes that have another device than the host's CPU
  for (const auto& [key, by] : busy) {
    if (by.Best() == BusyFrom::kExecutions) continue;
    any_events = true;
    if (!by.on_host_threads) accelerated.insert(key.process_id);
  }
  for (auto& [key, by] : busy) {
    const BusyFrom best = by.Best();
    // Executions on an unknown device are the work that a device's events already show.
    if (best == BusyFrom::kExecutions && any_events && key.device == "device") continue;
    // A program for a GPU or a TPU also computes a little on the host, which is no device of its own.
    if (by.on_host_threads && accelerated.contains(key.process_id)) continue;
    DeviceTime time{.device = key.device,
                    .process_id = key.process_id,
                    .from = best,
                    .on_host_threads = by.on_host_threads};
    time.busy = Union(Inside(slice, std::move(by[best])));
    for (const Interval& i : time.busy) time.busy_ns += i.length_ns();
    if (!time.busy.empty()) out.push_back(std::move(time));
  }
  // std::map orders by text, in which TPU:10 comes before TPU:2.
  std::stable_sort(out.begin(), out.end(), [](const DeviceTime& a, const DeviceTime& b) {
    return std::tuple(a.device.size(), a.device, a.process_id) <
           std::tuple(b.device.size(), b.device, b.process_id);
  });
  XP_TRY(SetLabels(store, out));
  return DeviceTimes{std::move(out)};
}

}  // namespace xlaprof
