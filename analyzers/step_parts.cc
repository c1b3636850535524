#include "analyzers/step_parts.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>

namespace xlaprof {

absl::StatusOr<std::vector<StepParts>> PartsOfSteps(const Store& store) {
  XP_TRY(Steps steps, LoadSteps(store));
  absl::flat_hash_map<int64_t, OptInt> number;  // by step id
  XP_TRY(store.Each("SELECT id, number FROM step",
                    [&](int64_t id, OptInt value) { number[id] = value; }));
  std::vector<StepParts> all;
  for (const StepSpan& step : steps.all) {
    int64_t end_ns;
    if (!step.ts_ns || !step.dur_ns || __builtin_add_overflow(*step.ts_ns, *step.dur_ns, &end_ns))
      continue;
    StepParts parts{.step = step, .number = number[step.id]};
    XP_TRY(auto timeline, HostTimeline::Of(store, step.process_id));
    if (timeline->has_events()) {
      for (const ActivityShare& share : timeline->During({*step.ts_ns, end_ns})) {
        const auto part = std::find(kStepParts.begin(), kStepParts.end(), share.activity.doing);
        parts.ns[size_t(part - kStepParts.begin())] += share.ns;
      }
    }
    all.push_back(parts);
  }
  return all;
}

}  // namespace xlaprof
