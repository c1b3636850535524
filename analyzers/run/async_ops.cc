#include "analyzers/run/async_ops.h"

#include <absl/container/flat_hash_set.h>

#include <algorithm>
#include <map>

#include "analyzers/run/each_batch.h"
#include "analyzers/run/host_to_device.h"
#include "profiler/store/events.h"

namespace xlaprof {
namespace {

// Reads the ops of host threads from which a flow leaves, and the marks that these flows lead to.
class FlowReader {
 public:
  FlowReader(const Store& store, absl::flat_hash_set<StringId> marks)
      : store_(store), marks_(std::move(marks)) {
    for (const Category category : {Category::kOp, Category::kCollective})
      categories_.push_back(store.Find(TextOf(category)));
  }

  absl::Status Read(const std::map<int64_t, int64_t>& process_of_track) {
    EventScanner::Options options{.columns = kStart | kDuration | kName | kCategory | kFlowIn |
                                             kFlowOut};
    for (const auto& [track, process] : process_of_track) options.track_ids.push_back(track);
    return EachBatch(store_, std::move(options), [&](const EventBatch& batch) {
      return Add(batch, process_of_track.at(batch.track_id));
    });
  }

  AsyncOps Result() const {
    AsyncOps out;
    for (const Candidate& candidate : ops_) {
      const auto mark = mark_of_flow_.find(candidate.flow);
      if (mark == mark_of_flow_.end() || mark->second <= candidate.event_end_ns) continue;
      out.by_event.emplace(candidate.op.event_id, out.ops.size());
      out.ops.push_back(candidate.op);
      out.ops.back().end_ns = mark->second;
    }
    return out;
  }

 private:
  struct Candidate {
    AsyncOp op;
    int64_t event_end_ns = 0;
    uint64_t flow = 0;
  };

  absl::Status Add(const EventBatch& batch, int64_t process_id) {
    std::vector<int64_t> ordinals;  // read at the first op
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.flow_in[i] != 0 && marks_.contains(batch.name[i]))
        mark_of_flow_[batch.flow_in[i]] = batch.ts_ns[i];
      if (batch.flow_out[i] == 0 || batch.category[i] == 0 || batch.dur_ns[i] <= 0 ||
          std::ranges::find(categories_, batch.category[i]) == categories_.end())
        continue;
      if (ordinals.empty()) {
        XP_TRY(ordinals, CpuOrdinals(store_, batch));
      }
      ops_.push_back({.op = {.event_id = batch.first_event_id + int64_t(i),
                             .process_id = process_id,
                             .ordinal = ordinals[i],
                             .begin_ns = batch.ts_ns[i]},
                      .event_end_ns = batch.ts_ns[i] + batch.dur_ns[i],
                      .flow = batch.flow_out[i]});
    }
    return absl::OkStatus();
  }

  const Store& store_;
  const absl::flat_hash_set<StringId> marks_;
  std::vector<StringId> categories_;
  std::vector<Candidate> ops_;
  absl::flat_hash_map<uint64_t, int64_t> mark_of_flow_;
};

}  // namespace

absl::StatusOr<AsyncOps> AsyncOps::Of(const Run& run) {
  const Store& store = run.store();
  absl::flat_hash_set<StringId> marks;
  XP_TRY(store.Each("SELECT id FROM string WHERE text GLOB 'end: *'",
                    [&](int64_t id) { marks.insert(StringId(id)); }));
  std::map<int64_t, int64_t> process_of_track;
  XP_TRY(store.Each("SELECT id, coalesce(process_id, 0) FROM track WHERE kind = 'host_thread'",
                    [&](int64_t id, int64_t process) { process_of_track[id] = process; }));
  if (marks.empty() || process_of_track.empty()) return AsyncOps();
  FlowReader reader(store, std::move(marks));
  XP_TRY(reader.Read(process_of_track));
  return reader.Result();
}

}  // namespace xlaprof
