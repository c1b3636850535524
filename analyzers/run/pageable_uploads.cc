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
  XP_TRY(EachEvent(store,
                   {.columns = kStart | kDuration | kCategory | kFlowOut, .categories = {transfer}},
                   [&](const EventBatch& batch, size_t i) {
                     if (batch.category[i] != transfer || batch.dur_ns[i] <= 0 ||
                         !flows.contains(batch.flow_out[i]))
                       return;
                     ++uploads.count;
                     uploads.blocked_ns += batch.dur_ns[i];
                     if (batch.dur_ns[i] > uploads.longest_ns)
                       uploads.longest_ns = batch.dur_ns[i], uploads.longest_ts_ns = batch.ts_ns[i];
                   }));
  return uploads;
}

}  // namespace xlaprof
