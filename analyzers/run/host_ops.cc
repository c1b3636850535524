#include "analyzers/run/host_ops.h"

#include <algorithm>
#include <vector>

#include "analyzers/run/tables.h"
#include "profiler/store/ordered_events.h"
#include "profiler/vocabulary/calls.h"

namespace xlaprof {
namespace {

// Returns whether an event is an op of PyTorch, such as aten::mm or torchvision::nms.
bool IsOp(std::string_view name) {
  const size_t colons = name.find("::");
  return colons != name.npos && colons > 0 && name.find_first_of(" (<#:") == colons;
}

enum class HostEvent : uint8_t { kOther, kOp, kLaunch };

// Sums the ops of one thread.
class Thread {
 public:
  void Take(const EventBatch& batch, size_t i) {
    const Interval time{batch.ts_ns[i], batch.ts_ns[i] + batch.dur_ns[i]};
    while (!open_.empty() && open_.back().second.end_ns <= time.begin_ns) open_.pop_back();
    ops.ops[batch.name[i]].Add(batch, i);
    if (open_.empty()) {
      ops.work_ns += time.length_ns();
    } else {
      ops.ops[open_.back().first].self_ns -= time.length_ns();
    }
    if (ops.span.end_ns == 0) ops.span = time;
    ops.span.end_ns = std::max(ops.span.end_ns, time.end_ns);
    open_.emplace_back(batch.name[i], time);
  }

  HostOps ops;

 private:
  std::vector<std::pair<StringId, Interval>> open_;  // outermost first
};

}  // namespace

absl::StatusOr<HostOps> HostOps::Of(const Run& run) {
  HostOps most;
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  if (!times->devices.empty()) return most;
  XP_TRY(const std::vector<TrackRow> tracks, run.Rows<TrackRow>("WHERE kind = 'host_thread'"));
  const Store& store = run.store();
  absl::flat_hash_map<StringId, HostEvent> what_of;
  int64_t launches = 0;
  XP_TRY(OrderedEvents events, OrderedEvents::Make(store, kName, /*arguments=*/false));
  for (const TrackRow& track : tracks) {
    XP_TRY(events.Open(track.id));
    Thread thread;
    EventBatch batch;
    const ChunkArguments* arguments = nullptr;
    while (true) {
      XP_TRY(const bool more, events.Next(&batch, &arguments));
      if (!more) break;
      for (size_t i = 0; i < batch.size; ++i) {
        if (batch.dur_ns[i] < 0 || batch.name[i] == 0) continue;
        const auto [what, is_new] = what_of.try_emplace(batch.name[i], HostEvent::kOther);
        if (is_new) {
          const std::string_view name = store.Text(batch.name[i]);
          what->second = FindGpuCall(name).kind == CallKind::kLaunching ? HostEvent::kLaunch
                         : IsOp(name)                                   ? HostEvent::kOp
                                                                        : HostEvent::kOther;
        }
        launches += what->second == HostEvent::kLaunch;
        if (what->second == HostEvent::kOp) thread.Take(batch, i);
      }
    }
    thread.ops.process_id = track.process_id.value_or(0);
    if (thread.ops.work_ns > most.work_ns) most = std::move(thread.ops);
  }
  most.launches = launches;
  return most;
}

}  // namespace xlaprof
