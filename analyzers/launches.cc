#include "analyzers/launches.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "profiler/store/events.h"

namespace xlaprof {

std::string_view GapWaitText(GapWait wait) {
  switch (wait) {
    case GapWait::kUnknown:
      return "";
    case GapWait::kHostWait:
      return "host_wait";
    case GapWait::kLaunch:
      return "launch";
    case GapWait::kKernelWait:
      return "kernel_wait";
  }
  return "";
}

absl::StatusOr<Launches> Launches::Of(const Store& store, const DeviceTime& device) {
  Launches launches;
  if (device.from != "op") return launches;
  EventScanner::Options ops{.columns = kStart | kCategory | kFlowIn};
  EventScanner::Options calls{.columns = kStart | kDuration | kFlowOut};
  XP_TRY(store.Each(
      "SELECT id, kind = 'host_thread' FROM track WHERE coalesce(process_id, 0) = ?1 AND (kind = "
      "'host_thread' OR (kind = 'device_stream' AND device = ?2))",
      [&](int64_t id, bool host) { (host ? calls : ops).track_ids.push_back(id); },
      device.process_id, device.device));
  if (ops.track_ids.empty() || calls.track_ids.empty()) return launches;
  const StringId op = store.Find(category::kOp), collective = store.Find(category::kCollective);
  absl::flat_hash_map<uint64_t, std::vector<int64_t>> waiting;  // flow -> starts of its work
  EventBatch batch;
  XP_TRY(EventScanner op_scanner, EventScanner::Make(store, ops));
  while (true) {
    XP_TRY(bool more, op_scanner.Next(&batch));
    if (!more) break;
    for (size_t i = 0; i < batch.size; ++i) {
      const bool work =
          batch.category[i] != 0 && (batch.category[i] == op || batch.category[i] == collective);
      if (work && batch.flow_in[i] != 0) waiting[batch.flow_in[i]].push_back(batch.ts_ns[i]);
    }
  }
  if (waiting.empty()) return launches;
  XP_TRY(EventScanner call_scanner, EventScanner::Make(store, calls));
  while (true) {
    XP_TRY(bool more, call_scanner.Next(&batch));
    if (!more) break;
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.flow_out[i] == 0) continue;
      auto found = waiting.find(batch.flow_out[i]);
      if (found == waiting.end()) continue;
      for (int64_t ts_ns : found->second) {
        launches.works_.push_back(
            {ts_ns, batch.ts_ns[i], batch.ts_ns[i] + std::max<int64_t>(0, batch.dur_ns[i])});
      }
    }
  }
  std::sort(launches.works_.begin(), launches.works_.end(),
            [](const Work& a, const Work& b) { return a.ts_ns < b.ts_ns; });
  return launches;
}

GapWait Launches::WaitOf(Interval gap) const {
  auto work = std::lower_bound(works_.begin(), works_.end(), gap.end_ns,
                               [](const Work& a, int64_t ts_ns) { return a.ts_ns < ts_ns; });
  if (work == works_.end() || work->ts_ns != gap.end_ns) return GapWait::kUnknown;
  if (work->call_ts_ns >= gap.begin_ns) return GapWait::kHostWait;
  return work->call_end_ns > gap.begin_ns ? GapWait::kLaunch : GapWait::kKernelWait;
}

}  // namespace xlaprof
