#include "analyzers/run/host_to_device.h"

#include <fmt/format.h>

#include "analyzers/run/each_batch.h"
#include "base/whole.h"

namespace xlaprof {
namespace {

int64_t AsInt(const ArgValue& value) {
  if (auto* i = std::get_if<int64_t>(&value)) return *i;
  if (auto* u = std::get_if<uint64_t>(&value)) return int64_t(*u);
  if (auto* d = std::get_if<double>(&value)) return Whole(*d);
  return 0;
}

}  // namespace

absl::StatusOr<std::vector<int64_t>> CpuOrdinals(const Store& store, const EventBatch& batch) {
  std::vector<int64_t> ordinals(batch.size, 0);
  const StringId key = store.Find("device_ordinal");
  if (key == 0) return ordinals;
  XP_TRY(auto column, ReadArgumentColumn(store, batch.chunk_id, key));
  const size_t skip = size_t(batch.first_index);
  for (size_t i = 0; i < batch.size && i + skip < column.size(); ++i) {
    if (column[i + skip]) ordinals[i] = AsInt(*column[i + skip]);
  }
  return ordinals;
}

std::string CpuDevice(int64_t ordinal) { return fmt::format("CPU:{}", ordinal); }

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
