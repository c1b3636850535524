#include "core/debug/step_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/metric_names.h"
#include "core/metrics/metrics.h"

namespace xlaprof::lazy::debug {
namespace {

std::string TooFrequent(const char* metric, int64_t warm_up_steps) {
  constexpr double kMostPerStep = 0.5;
  const int64_t steps = counter_value(metric_names::kMarkStep).value_or(0);
  const auto data = metric_data(metric);
  if (!data || steps <= warm_up_steps || double(data->count) / double(steps) <= kMostPerStep)
    return "";
  return fmt::format("pt-xla-profiler: {} too frequent: {} counts during {} steps\n", metric,
                     data->count, steps);
}

std::string TooSlow(const char* metric, double limit_ns) {
  const auto data = metric_data(metric);
  if (!data) return "";
  const auto longest =
      std::max_element(data->samples.begin(), data->samples.end(),
                       [](const auto& a, const auto& b) { return a.value < b.value; });
  if (longest == data->samples.end() || longest->value <= limit_ns) return "";
  return fmt::format(
      "pt-xla-profiler: {} too slow: longest instance took {}. Please open a GitHub issue with the "
      "graph dump for our team to optimize.\n",
      metric, metrics::DurationText(longest->value));
}

std::string NotLowered() {
  std::string ops;
  for (const std::string& op : executed_fallback_ops()) {
    // _local_scalar_dense, which reads one number, does not lack a lowering.
    if (op.find("aten::") != std::string::npos && op != "aten::_local_scalar_dense")
      ops += op + ", ";
  }
  if (ops.empty()) return "";
  return fmt::format(
      "pt-xla-profiler: Op(s) not lowered: {} Please open a GitHub issue with the above op "
      "lowering requests.\n",
      ops);
}

}  // namespace

std::string StepRuleLines() {
  return TooFrequent(metric_names::kCompileTime, 10) +
         TooFrequent(metric_names::kTransferFromDeviceTime, 0) +
         TooSlow(metric_names::kCompileTime, 300e9) + TooSlow(metric_names::kExecuteTime, 30e9) +
         NotLowered();
}

}  // namespace xlaprof::lazy::debug
