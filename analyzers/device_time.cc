#include "analyzers/device_time.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// What a device's busy time can be made of, best first: a module covers the waits between its ops.
enum Made { kOfModules, kOfOps, kOfExecutions, kMadeCount };
constexpr const char* kMadeText[kMadeCount] = {"module", "op", "execution"};

struct Key {
  std::string device;
  int64_t process_id = 0;
  auto operator<=>(const Key&) const = default;
};
using Busy = std::map<Key, std::array<std::vector<Interval>, kMadeCount>>;

struct Track {
  int64_t process_id = 0;
  std::string device;  // "": a host thread, whose ops say their device themselves
};

// Events arrive sorted by start, mostly nested: what lies in the interval before is taken in at
// once.
void Append(std::vector<Interval>& out, int64_t begin_ns, int64_t end_ns) {
  if (end_ns <= begin_ns) return;
  if (!out.empty() && begin_ns >= out.back().begin_ns && begin_ns <= out.back().end_ns) {
    out.back().end_ns = std::max(out.back().end_ns, end_ns);
  } else {
    out.push_back({begin_ns, end_ns});
  }
}

int64_t AsInt(const ArgValue& value) {
  if (auto* i = std::get_if<int64_t>(&value)) return *i;
  if (auto* u = std::get_if<uint64_t>(&value)) return int64_t(*u);
  if (auto* d = std::get_if<double>(&value)) return int64_t(*d);
  return 0;
}

absl::Status AddEvents(const Store& store, Busy& busy) {
  std::map<int64_t, Track> tracks;
  EventScanner::Options options{.columns = kStart | kDuration | kCategory};
  XP_TRY(
      store.Each("SELECT id, process_id, device FROM track WHERE kind IN ('host_thread', 'device', "
                 "'device_stream')",
                 [&](int64_t id, OptInt process, OptText device) {
                   tracks[id] = {process.value_or(0), device.value_or("")};
                   options.track_ids.push_back(id);
                 }));
  const StringId module = store.Find(category::kModule), op = store.Find(category::kOp),
                 collective = store.Find(category::kCollective),
                 ordinal_key = store.Find("device_ordinal");
  if (tracks.empty() || (!module && !op && !collective)) return absl::OkStatus();
  XP_TRY(EventScanner scanner, EventScanner::Make(store, options));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return absl::OkStatus();
    const Track& track = tracks[batch.track_id];
    std::vector<std::optional<ArgValue>>
        ordinals;  // read when the first op of a host thread is met
    std::array<std::vector<Interval>, kMadeCount>* out = nullptr;
    if (!track.device.empty()) out = &busy[{track.device, track.process_id}];
    int64_t out_ordinal = -1;
    for (size_t i = 0; i < batch.size; ++i) {
      const StringId what = batch.category[i];
      if (what == 0 || (what != module && what != op && what != collective) || batch.dur_ns[i] <= 0)
        continue;
      if (track.device.empty()) {
        if (ordinals.empty()) {
          ordinals.assign(batch.size, std::nullopt);
          if (ordinal_key != 0) {
            XP_TRY(auto column, ReadArgumentColumn(store, batch.chunk_id, ordinal_key));
            const size_t skip = size_t(batch.first_index);
            for (size_t k = 0; k < batch.size && k + skip < column.size(); ++k)
              ordinals[k] = column[k + skip];
          }
        }
        const int64_t ordinal = ordinals[i] ? AsInt(*ordinals[i]) : 0;
        if (ordinal != out_ordinal) {
          out = &busy[{fmt::format("CPU:{}", ordinal), track.process_id}];
          out_ordinal = ordinal;
        }
      }
      Append((*out)[what == module ? kOfModules : kOfOps], batch.ts_ns[i],
             batch.ts_ns[i] + batch.dur_ns[i]);
    }
  }
}

}  // namespace

std::vector<Interval> Union(std::vector<Interval> intervals) {
  std::sort(intervals.begin(), intervals.end(), [](const Interval& a, const Interval& b) {
    return std::pair(a.begin_ns, a.end_ns) < std::pair(b.begin_ns, b.end_ns);
  });
  std::vector<Interval> out;
  for (const Interval& i : intervals) Append(out, i.begin_ns, i.end_ns);
  return out;
}

static absl::StatusOr<std::vector<DeviceTime>> Compute(const Store& store) {
  Busy busy;
  XP_TRY(AddEvents(store, busy));
  XP_TRY(
      store.Each("SELECT process_id, device, ts_ns, dur_ns FROM execution WHERE ts_ns IS NOT NULL "
                 "AND dur_ns > 0",
                 [&](OptInt process, OptText device, int64_t ts_ns, int64_t dur_ns) {
                   busy[{device.value_or("device"), process.value_or(0)}][kOfExecutions].push_back(
                       {ts_ns, ts_ns + dur_ns});
                 }));
  const Slice& slice = store.slice();
  std::vector<DeviceTime> out;
  bool any_events = false;
  for (const auto& [key, made] : busy)
    any_events |= !made[kOfModules].empty() || !made[kOfOps].empty();
  for (auto& [key, made] : busy) {
    const int best = !made[kOfModules].empty() ? kOfModules
                     : !made[kOfOps].empty()   ? kOfOps
                                               : kOfExecutions;
    // Executions whose device is not told are the same work that a device's events already show.
    if (best == kOfExecutions && any_events && key.device == "device") continue;
    DeviceTime time{.device = key.device, .process_id = key.process_id, .from = kMadeText[best]};
    for (Interval& i : made[best]) {
      if (slice.from_ns) i.begin_ns = std::max(i.begin_ns, *slice.from_ns);
      if (slice.to_ns) i.end_ns = std::min(i.end_ns, *slice.to_ns);
    }
    time.busy = Union(std::move(made[best]));
    for (const Interval& i : time.busy) time.busy_ns += i.length_ns();
    if (!time.busy.empty()) out.push_back(std::move(time));
  }
  // std::map's order is by text, in which TPU:10 comes before TPU:2.
  std::stable_sort(out.begin(), out.end(), [](const DeviceTime& a, const DeviceTime& b) {
    return std::tuple(a.device.size(), a.device, a.process_id) <
           std::tuple(b.device.size(), b.device, b.process_id);
  });
  return out;
}

absl::StatusOr<std::vector<DeviceTime>> DeviceTimes(const Store& store) {
  XP_TRY(auto times,
         store.Derived<std::vector<DeviceTime>>("device_times", [&] { return Compute(store); }));
  return *times;
}

}  // namespace xlaprof
