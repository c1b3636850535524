#include "analyzers/run/device_flows.h"

#include "analyzers/run/each_batch.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_set<uint64_t>> FlowsToOps(
    const Store& store, std::initializer_list<std::string_view> patterns) {
  absl::flat_hash_set<uint64_t> flows;
  absl::flat_hash_set<StringId> names;
  for (const std::string_view pattern : patterns) {
    XP_TRY(store.Each(
        "SELECT id FROM string WHERE text GLOB ?1", [&](int64_t id) { names.insert(StringId(id)); },
        pattern));
  }
  EventScanner::Options options{.columns = kName | kFlowIn};
  XP_TRY(store.Each("SELECT id FROM track WHERE kind IN ('device', 'device_stream')",
                    [&](int64_t id) { options.track_ids.push_back(id); }));
  if (names.empty() || options.track_ids.empty()) return flows;
  XP_TRY(EachEvent(store, std::move(options), [&](const EventBatch& batch, size_t i) {
    if (batch.flow_in[i] != 0 && names.contains(batch.name[i])) flows.insert(batch.flow_in[i]);
  }));
  return flows;
}

}  // namespace xlaprof
