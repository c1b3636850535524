#include "analyzers/run/device_ops.h"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "analyzers/run/async_ops.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_to_device.h"
#include "base/category.h"

namespace xlaprof {
namespace {

// Memory space 5 in XLA's layouts is the host's memory.
constexpr std::string_view kHostMemory = "S(5)";

// The ops around the next op of a track.
class OpenOps {
 public:
  struct Inside {
    StringId name = 0;  // of the innermost op around
    int64_t ns = 0;     // its part that the new op covers
  };
  // Adds an op, and returns the part of another op that it takes away; nothing if it is in no op.
  std::optional<Inside> Open(int64_t track_id, StringId name, Interval time) {
    if (track_id != track_id_) open_.clear();
    track_id_ = track_id;
    while (!open_.empty() && (open_.back().time.end_ns <= time.begin_ns ||
                              time.begin_ns < open_.back().time.begin_ns))
      open_.pop_back();
    std::optional<Inside> inside;
    if (!open_.empty()) {
      const Op& outer = open_.back();
      inside = {outer.name, std::min(time.end_ns, outer.time.end_ns) - time.begin_ns};
    }
    open_.push_back({name, time});
    return inside;
  }

 private:
  struct Op {
    StringId name = 0;
    Interval time;
  };
  int64_t track_id_ = 0;
  std::vector<Op> open_;  // outermost first
};

// The parts of one device's ops that other threads run after the op's event (AsyncOps).
class Tails {
 public:
  void Add(StringId name, Interval event, int64_t end_ns) {
    changes_.push_back({event.begin_ns, 0, 1});
    changes_.push_back({event.end_ns, 0, -1});
    if (end_ns <= event.end_ns) return;
    changes_.push_back({event.end_ns, name, 1});
    changes_.push_back({end_ns, name, -1});
  }

  // Adds the time in which no event is open to the ops that are under way then, in equal parts.
  void AddTo(absl::flat_hash_map<StringId, DeviceOp>& ops) const {
    std::vector<Change> changes = changes_;
    std::ranges::sort(changes, {}, &Change::ts_ns);
    std::map<StringId, int> open;  // number of tails by name
    int events = 0, count = 0;     // open events and tails
    for (size_t i = 0; i < changes.size(); ++i) {
      const Change& change = changes[i];
      if (i > 0 && events == 0 && count > 0) {
        const double each_ns = double(change.ts_ns - changes[i - 1].ts_ns) / double(count);
        for (const auto& [name, number] : open) ops[name].self_ns += int64_t(each_ns * number);
      }
      if (change.name == 0) {
        events += change.by;
        continue;
      }
      count += change.by;
      if ((open[change.name] += change.by) == 0) open.erase(change.name);
    }
  }

 private:
  struct Change {
    int64_t ts_ns = 0;
    StringId name = 0;  // of a tail; 0: an event
    int by = 0;         // 1 at a start, -1 at an end
  };
  std::vector<Change> changes_;
};

}  // namespace

void DeviceOp::Add(const EventBatch& batch, size_t i) {
  ++count;
  ns += batch.dur_ns[i];
  self_ns += batch.dur_ns[i];
  if (batch.dur_ns[i] <= longest_ns) return;
  longest_ns = batch.dur_ns[i], ts_ns = batch.ts_ns[i];
  chunk_id = batch.chunk_id, index = batch.first_index + int64_t(i);
  event_id = batch.first_event_id + int64_t(i);
}

std::string_view OpName(std::string_view text) {
  if (text.starts_with('%')) text.remove_prefix(1);
  return text.substr(0, text.find_first_of(" =("));
}

namespace {

// Calls device(key) when the device changes, and then op(batch, i) for each op that it ran.
template <typename OnDevice, typename OnOp>
absl::Status EachOp(const Run& run, OnDevice device, OnOp op) {
  const Store& store = run.store();
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory};
  for (Category category : {Category::kOp, Category::kCollective}) {
    if (StringId id = store.Find(TextOf(category))) options.categories.push_back(id);
  }
  XP_TRY(const std::vector<TrackRow> tracks,
         run.Rows<TrackRow>("WHERE kind IN ('host_thread', 'device', 'device_stream')"));
  std::map<int64_t, DeviceKey> device_of;  // no name: a host thread, whose ops name their device
  for (const TrackRow& track : tracks) {
    device_of[track.id] = {track.process_id.value_or(0), track.device.value_or("")};
    options.track_ids.push_back(track.id);
  }
  if (device_of.empty() || options.categories.empty()) return absl::OkStatus();
  const std::vector<StringId> wanted = options.categories;
  return EachBatch(store, std::move(options), [&](const EventBatch& batch) -> absl::Status {
    const DeviceKey& key = device_of[batch.track_id];
    const bool on_host_thread = key.second.empty();
    if (!on_host_thread) device(key);
    std::vector<int64_t> ordinals;  // of a host thread's devices, read at the first op
    int64_t last_ordinal = -1;
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] == 0 || batch.dur_ns[i] < 0 ||
          std::ranges::find(wanted, batch.category[i]) == wanted.end())
        continue;
      if (on_host_thread) {
        if (ordinals.empty()) {
          XP_TRY(ordinals, CpuOrdinals(store, batch));
        }
        if (ordinals[i] != last_ordinal) device({key.first, CpuDevice(ordinals[i])});
        last_ordinal = ordinals[i];
      }
      op(batch, i);
    }
    return absl::OkStatus();
  });
}

}  // namespace

absl::StatusOr<DeviceOps> DeviceOps::Of(const Run& run) {
  const Store& store = run.store();
  DeviceOps ops;
  XP_TRY(const AsyncOps* async, run.Get<AsyncOps>());
  std::map<DeviceKey, Tails> tails;
  Tails* tails_of_device = nullptr;
  const StringId collective = store.Find(TextOf(Category::kCollective));
  absl::flat_hash_map<StringId, DeviceOp>* of_device = nullptr;
  OpenOps open;
  XP_TRY(EachOp(
      run,
      [&](const DeviceKey& key) {
        of_device = &ops.by_device[key];
        tails_of_device = async->ops.empty() ? nullptr : &tails[key];
      },
      [&](const EventBatch& batch, size_t i) {
        auto [at, is_first_here] = of_device->try_emplace(batch.name[i]);
        if (is_first_here) {
          ops.names.try_emplace(batch.name[i], Name{std::string(OpName(store.Text(batch.name[i]))),
                                                    batch.category[i] == collective});
        }
        DeviceOp& one = at->second;
        one.Add(batch, i);
        const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
        if (tails_of_device != nullptr) {
          const AsyncOp* tail = async->Find(batch.first_event_id + int64_t(i));
          tails_of_device->Add(batch.name[i], time, tail == nullptr ? time.end_ns : tail->end_ns);
        }
        if (const auto outer = open.Open(batch.track_id, batch.name[i], time)) {
          if (const auto around = of_device->find(outer->name); around != of_device->end())
            around->second.self_ns -= outer->ns;
        }
      }));
  for (const auto& [key, of_key] : tails) of_key.AddTo(ops.by_device[key]);
  // Leaves out what the host computed beside another device (DeviceTimes).
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  std::set<DeviceKey> devices;
  for (const DeviceTime& time : times->devices) devices.emplace(time.process_id, time.device);
  std::erase_if(ops.by_device, [&](const auto& entry) { return !devices.contains(entry.first); });
  return ops;
}

absl::StatusOr<std::map<DeviceKey, std::vector<std::vector<Interval>>>> TimesOf(const Run& run,
                                                                                const OpSets& sets,
                                                                                size_t count) {
  std::map<DeviceKey, std::vector<std::vector<Interval>>> times;
  const absl::flat_hash_map<StringId, size_t>* set_of = nullptr;
  std::vector<std::vector<Interval>>* of_device = nullptr;
  XP_TRY(EachOp(
      run,
      [&](const DeviceKey& key) {
        const auto found = sets.find(key);
        set_of = found == sets.end() ? nullptr : &found->second;
        if (set_of == nullptr) return;
        of_device = &times[key];
        of_device->resize(count);
      },
      [&](const EventBatch& batch, size_t i) {
        if (set_of == nullptr) return;
        const auto found = set_of->find(batch.name[i]);
        if (found == set_of->end()) return;
        (*of_device)[found->second].push_back({batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]});
      }));
  for (auto& [key, of_sets] : times) {
    for (std::vector<Interval>& set : of_sets)
      set = Union(Inside(run.store().slice(), std::move(set)));
  }
  return times;
}

absl::StatusOr<DeviceOpDetails> DetailsOf(const Run& run, StringId name, const DeviceOp& op) {
  const Store& store = run.store();
  DeviceOpDetails details;
  std::string_view text = store.Text(name);
  details.host_memory = text.find(kHostMemory) != text.npos;
  XP_TRY(std::vector<Argument> arguments, ReadArguments(store, op.chunk_id, op.index));
  for (const Argument& argument : arguments) {
    if (auto* value = std::get_if<Text>(&argument.value)) {
      details.host_memory |= store.Text(value->id).find(kHostMemory) != std::string_view::npos;
    } else if (store.Text(argument.key) == "bytes_accessed") {
      if (auto* u = std::get_if<uint64_t>(&argument.value)) details.bytes = int64_t(*u);
      if (auto* i = std::get_if<int64_t>(&argument.value)) details.bytes = *i;
    }
  }
  // Reads the op in the program's text, and its operands, which are the ops that it waits for.
  XP_TRY(store.Each(
      "SELECT n.shape, coalesce(n.location, ''), coalesce(group_concat(o.shape, ' '), '') FROM "
      "graph_node n LEFT JOIN graph_node o ON o.graph_id = n.graph_id AND o.op LIKE '%-start' AND "
      "(',' || n.operands || ',') LIKE ('%,' || o.idx || ',%') WHERE n.name = ?1 GROUP BY "
      "n.graph_id, n.idx",
      [&](std::string shape, std::string location, std::string operands) {
        details.host_memory |= (shape + operands).find(kHostMemory) != std::string::npos;
        if (!location.empty() && !details.location) details.location = location;
      },
      OpName(text)));
  return details;
}

}  // namespace xlaprof
