#include "analyzers/run/pageable_uploads.h"

#include "analyzers/run/device_flows.h"
#include "analyzers/run/each_batch.h"

namespace xlaprof {

absl::StatusOr<PageableUploads> PageableUploads::Of(const Run& run) {
  const Store& store = run.store();
  PageableUploads uploads;
  // CUDA and ROCm print "Memcpy HtoD (Pageable -> Device)".
  XP_TRY(const auto flows, FlowsToOps(store, {"*HtoD*Pageable ->*"}));
  if (flows.empty()) return uploads;
  const StringId transfer = store.Find(TextOf(Category::kTransfer));
  EventScanner::Options options{.columns = kStart | kDuration | kCategory | kFlowOut,
                                .track_ids = {},
                                .from_ns = {},
                                .to_ns = {},
                                .categories = {transfer}};
  XP_TRY(EachBatch(store, std::move(options), [&](const EventBatch& batch) {
    for (size_t i = 0; i < batch.size; ++i) {
      if (batch.category[i] != transfer || batch.dur_ns[i] <= 0 ||
          !flows.contains(batch.flow_out[i]))
        continue;
      ++uploads.count;
      uploads.blocked_ns += batch.dur_ns[i];
      if (batch.dur_ns[i] > uploads.longest_ns)
        uploads.longest_ns = batch.dur_ns[i], uploads.longest_ts_ns = batch.ts_ns[i];
    }
    return absl::OkStatus();
  }));
  return uploads;
}

}  // namespace xlaprof
