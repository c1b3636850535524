#include "profiler/import/importer.h"

namespace xlaprof {

absl::StatusOr<int64_t> ImportContext::ProcessId() {
  if (position_.process_id == 0) {
    XP_TRY(position_.process_id,
           store.Add(ProcessRow{.source_id = source_id, .segment = position_.segment}));
  }
  return position_.process_id;
}

absl::StatusOr<int64_t> ImportContext::NewProcess(OptText host, OptInt pid, OptInt rank) {
  position_.next_ordinal = 0;
  XP_TRY(position_.process_id, store.Add(ProcessRow{.source_id = source_id,
                                                    .segment = position_.segment,
                                                    .host = std::move(host),
                                                    .pid = pid,
                                                    .rank = rank}));
  return position_.process_id;
}

void ImportContext::Restart() {
  ++position_.segment;
  position_.process_id = 0;
  position_.next_ordinal = 0;
}

absl::StatusOr<int64_t> ImportContext::AlignClock(int64_t epoch_ns) {
  XP_TRY(OptInt base_ns, store.MetaNs("base_epoch_ns"));
  int64_t offset_ns = 0;
  if (base_ns) {
    if (__builtin_sub_overflow(epoch_ns, *base_ns, &offset_ns))
      return DataLoss(
          "the clock of this file reads {} ns since 1970, centuries away from the other files. Read it alone",
          epoch_ns);
  } else {
    XP_TRY(store.SetMeta("base_epoch_ns", fmt::to_string(epoch_ns)));
  }
  XP_TRY(store.Run("UPDATE source SET clock_offset_ns = ?2 WHERE id = ?1", source_id, offset_ns));
  return offset_ns;
}

}  // namespace xlaprof
