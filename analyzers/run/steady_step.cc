#include "analyzers/run/steady_step.h"

#include <algorithm>
#include <map>
#include <set>

#include "analyzers/run/device_idle.h"
#include "analyzers/run/device_time.h"
#include "analyzers/run/steps.h"

namespace xlaprof {

absl::StatusOr<SteadyStep> SteadyStep::Of(const Run& run) {
  SteadyStep out;
  XP_TRY(const Steps* steps, run.Get<Steps>());
  XP_TRY(const DeviceTimes* times, run.Get<DeviceTimes>());
  std::set<int64_t> processes;
  for (const StepSpan& step : steps->all) processes.insert(step.process_id);

  int64_t wall_ns = 0, host_steps = 0, device_steps = 0, busy_ns = 0, idle_ns = 0;
  std::map<Doing, int64_t> host;
  for (int64_t process : processes) {
    std::optional<Interval> window = steps->SteadyWindow(process);
    int64_t count = steps->TimedSteady(process);
    if (!window || count == 0) continue;
    out.steps += count;
    wall_ns += window->length_ns();
    XP_TRY(const HostTimeline* timeline, run.Get<HostTimeline>(process));
    if (timeline->has_events()) {
      host_steps += count;
      const auto totals = timeline->TotalsDuring(*window);
      for (size_t doing = 0; doing < totals.size(); ++doing) {
        if (totals[doing] > 0) host[Doing(doing)] += totals[doing];
      }
    }
    std::vector<int64_t> busy_of_device;
    for (const DeviceTime& device : times->devices) {
      if (device.process_id == process) busy_of_device.push_back(Overlap(device.busy, *window));
    }
    const bool any = std::ranges::any_of(busy_of_device, [](int64_t ns) { return ns > 0; });
    for (int64_t busy_here_ns : busy_of_device) {
      if (any && busy_here_ns == 0) continue;  // the device takes no part in the steps
      device_steps += count;
      busy_ns += busy_here_ns;
      idle_ns += window->length_ns() - busy_here_ns;
    }
  }
  if (out.steps == 0) return out;
  out.step_ns = wall_ns / out.steps;
  if (host_steps > 0) {
    for (const auto& [doing, ns] : host) out.host.push_back({doing, ns / host_steps});
    std::stable_sort(out.host.begin(), out.host.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
  }
  if (device_steps > 0)
    out.device_busy_ns = busy_ns / device_steps, out.device_idle_ns = idle_ns / device_steps;
  return out;
}

}  // namespace xlaprof
