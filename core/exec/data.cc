#include "core/exec/data.h"

#include "base/fork.h"
#include "base/metric_names.h"
#include "core/exec/device.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {

using metrics::Arena;
using metrics::Counter;

void Data::Set(Ref<Buffer> buffer) {
  static Counter& created = Counter::Of(metric_names::kCreateDataHandles, Arena::kRuntime);
  has_handle_ = !device_.is_host();
  if (has_handle_) created.Add();
  Become(std::move(buffer), absl::OkStatus());
}

Data::~Data() {
  static Counter& destroyed = Counter::Of(metric_names::kDestroyDataHandles, Arena::kRuntime);
  if (has_handle_ && !is_forked) destroyed.Add();
}

}  // namespace xlaprof::lazy
