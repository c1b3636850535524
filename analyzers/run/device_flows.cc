#include "analyzers/run/device_flows.h"

#include <absl/container/flat_hash_map.h>

#include "analyzers/run/each_batch.h"

namespace xlaprof {

absl::StatusOr<absl::flat_hash_set<uint64_t>> FlowsToOps(
    const Store& store, const std::function<bool(std::string_view)>& accepts) {
  absl::flat_hash_set<uint64_t> flows;
  EventScanner::Options options{.columns = kName | kFlowIn};
  XP_TRY(store.Each("SELECT id FROM track WHERE kind IN ('device', 'device_stream')",
                    [&](int64_t id) { options.track_ids.push_back(id); }));
  if (options.track_ids.empty()) return flows;
  absl::flat_hash_map<StringId, bool> is_accepted;
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.flow_in[i] == 0) continue;
      const auto [known, is_new] = is_accepted.try_emplace(batch.name[i], false);
      if (is_new) known->second = accepts(store.Text(batch.name[i]));
      if (known->second) flows.insert(batch.flow_in[i]);
    }
    return absl::OkStatus();
  }));
  return flows;
}

}  // namespace xlaprof
