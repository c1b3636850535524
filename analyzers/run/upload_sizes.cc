#include "analyzers/run/upload_sizes.h"

#include "analyzers/run/tables.h"

namespace xlaprof {

absl::StatusOr<UploadSizes> UploadSizes::Of(const Run& run) {
  XP_TRY(const Transfers* transfers, run.Get<Transfers>());
  UploadSizes sizes;
  for (const TransferRow& row : transfers->rows) {
    if (row.direction == Direction::kToDevice && row.bytes)
      ++sizes.by_process[row.process_id.value_or(0)][*row.bytes];
  }
  return sizes;
}

}  // namespace xlaprof
