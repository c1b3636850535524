#include "core/exec/handles.h"

#include "base/fork.h"
#include "base/metric_names.h"
#include "core/exec/device.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy {

using metrics::Arena;
using metrics::Counter;

void SetAndCount(Data& data, Ref<Buffer> buffer) {
  if (!data.device().is_host()) {
    static Counter& created = Counter::Of(metric_names::kCreateDataHandles, Arena::kRuntime);
    created.Add();
    data.WhenGone([] {
      static Counter& gone = Counter::Of(metric_names::kDestroyDataHandles, Arena::kRuntime);
      if (!is_forked) gone.Add();
    });
  }
  data.Set(std::move(buffer));
}

}  // namespace xlaprof::lazy
