#include "profiler/import/importer.h"

#include <charconv>

namespace xlaprof {

absl::StatusOr<int64_t> ImportContext::ProcessId() {
  if (process_id_ == 0) {
    XP_TRY(process_id_, store.Add(ProcessRow{.source_id = source_id, .segment = segment_}));
  }
  return process_id_;
}

absl::StatusOr<int64_t> ImportContext::NewProcess(OptText host, OptInt pid, OptInt rank) {
  next_ordinal_ = 0;
  XP_TRY(process_id_, store.Add(ProcessRow{.source_id = source_id,
                                           .segment = segment_,
                                           .host = std::move(host),
                                           .pid = pid,
                                           .rank = rank}));
  return process_id_;
}

void ImportContext::Restart() {
  ++segment_;
  process_id_ = 0;
  next_ordinal_ = 0;
}

absl::StatusOr<int64_t> ImportContext::AlignClock(int64_t epoch_ns) {
  XP_TRY(auto base, store.Meta("base_epoch_ns"));
  int64_t offset_ns = 0;
  if (base) {
    int64_t base_ns = 0;
    std::from_chars(base->data(), base->data() + base->size(), base_ns);
    offset_ns = epoch_ns - base_ns;
  } else {
    XP_TRY(store.SetMeta("base_epoch_ns", fmt::to_string(epoch_ns)));
  }
  XP_TRY(store.Run("UPDATE source SET clock_offset_ns = ?2 WHERE id = ?1", source_id, offset_ns));
  return offset_ns;
}

}  // namespace xlaprof
