#include "analyzers/run/launches.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

#include "analyzers/run/each_batch.h"

namespace xlaprof {
namespace {

GapWait WaitOf(Interval gap, int64_t call_ts_ns, int64_t call_dur_ns) {
  if (call_ts_ns >= gap.begin_ns) return GapWait::kHostWait;
  return call_ts_ns + std::max<int64_t>(0, call_dur_ns) > gap.begin_ns ? GapWait::kLaunch
                                                                       : GapWait::kKernelWait;
}

}  // namespace

absl::StatusOr<std::vector<GapWait>> GapWaits(const Run& run, const DeviceTime& device,
                                              std::span<const Interval> gaps) {
  const Store& store = run.store();
  std::vector<GapWait> waits(gaps.size(), GapWait::kUnknown);
  if (device.from != BusyFrom::kOps || gaps.empty()) return waits;
  EventScanner::Options ops{.columns = kStart | kCategory | kFlowIn};
  EventScanner::Options calls{.columns = kStart | kDuration | kFlowOut};
  XP_TRY(store.Each(
      "SELECT id, kind = 'host_thread' FROM track WHERE process_id IS nullif(?1, 0) AND (kind = "
      "'host_thread' OR (kind = 'device_stream' AND device = ?2))",
      [&](int64_t id, bool host) { (host ? calls : ops).track_ids.push_back(id); },
      device.process_id, device.device));
  if (ops.track_ids.empty() || calls.track_ids.empty()) return waits;
  const StringId op = store.Find(TextOf(Category::kOp)),
                 collective = store.Find(TextOf(Category::kCollective));
  absl::flat_hash_map<uint64_t, size_t> gap_of_flow;
  gap_of_flow.reserve(gaps.size());
  XP_TRY(EachBatch(store, ops, [&](const EventBatch& batch) {
    // The events of a batch are ordered by start, like the gaps.
    auto gap = std::lower_bound(gaps.begin(), gaps.end(), batch.ts_ns[0],
                                [](const Interval& a, int64_t t) { return a.end_ns < t; });
    for (size_t i = 0; i < batch.size; ++i) {
      const StringId what = batch.category[i];
      if (what == 0 || (what != op && what != collective) || batch.flow_in[i] == 0) continue;
      while (gap != gaps.end() && gap->end_ns < batch.ts_ns[i]) ++gap;
      if (gap != gaps.end() && gap->end_ns == batch.ts_ns[i])
        gap_of_flow.emplace(batch.flow_in[i], size_t(gap - gaps.begin()));
    }
  }));
  if (gap_of_flow.empty()) return waits;
  XP_TRY(EachEvent(store, calls, [&](const EventBatch& batch, size_t i) {
    if (batch.flow_out[i] == 0) return;
    auto found = gap_of_flow.find(batch.flow_out[i]);
    if (found == gap_of_flow.end()) return;
    GapWait& wait = waits[found->second];
    wait = std::max(wait, WaitOf(gaps[found->second], batch.ts_ns[i], batch.dur_ns[i]));
  }));
  return waits;
}

absl::StatusOr<std::vector<int64_t>> HostThreads(const Run& run, int64_t process_id) {
  const Store& store = run.store();
  return store.Collect(
      "SELECT id FROM track WHERE kind = 'host_thread' AND process_id IS nullif(?1, 0)",
      [](int64_t id) { return id; }, process_id);
}

absl::StatusOr<bool> LaunchesDuring(const Run& run, int64_t process_id, Interval time) {
  const Store& store = run.store();
  const StringId execute = store.Find(TextOf(Category::kExecute)),
                 transfer = store.Find(TextOf(Category::kTransfer));
  EventScanner::Options options{.columns = kStart | kCategory,
                                .from_ns = time.begin_ns,
                                .to_ns = time.end_ns};
  XP_TRY(options.track_ids, HostThreads(run, process_id));
  if (options.track_ids.empty()) return false;
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  EventBatch batch;
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return false;
    for (size_t i = 0; i < batch.size; ++i) {
      const StringId what = batch.category[i];
      if (what != 0 && (what == execute || what == transfer) && batch.ts_ns[i] >= time.begin_ns &&
          batch.ts_ns[i] < time.end_ns)
        return true;
    }
  }
}

absl::StatusOr<bool> LaunchesIn(const Run& run, int64_t process_id, StringId scope) {
  const Store& store = run.store();
  EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory | kFlowOut};
  XP_TRY(options.track_ids, HostThreads(run, process_id));
  if (options.track_ids.empty()) return false;
  const StringId execute = store.Find(TextOf(Category::kExecute)),
                 user = store.Find(TextOf(Category::kScope));
  int64_t track_id = 0, until_ns = INT64_MIN;  // the end of the scopes that began
  EventBatch batch;
  XP_TRY(EventScanner scanner, EventScanner::Make(store, std::move(options)));
  while (true) {
    XP_TRY(bool more, scanner.Next(&batch));
    if (!more) return false;
    if (batch.track_id != track_id) track_id = batch.track_id, until_ns = INT64_MIN;
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.name[i] == scope && batch.category[i] == user) {
        until_ns = std::max(until_ns, batch.ts_ns[i] + batch.dur_ns[i]);
      } else if (batch.ts_ns[i] < until_ns &&
                 (batch.flow_out[i] != 0 || (execute != 0 && batch.category[i] == execute))) {
        return true;
      }
    }
  }
}

}  // namespace xlaprof
