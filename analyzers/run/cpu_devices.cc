#include "analyzers/run/cpu_devices.h"

#include <fmt/format.h>

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

}  // namespace xlaprof
