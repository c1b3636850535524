#include "core/metrics/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>

#include "base/clock_ns.h"
#include "base/metric_names.h"
#include "core/environment.h"

namespace xlaprof::lazy {
namespace metrics {
namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<Counter>, std::less<>> counters;
  std::map<std::string, std::unique_ptr<Metric>, std::less<>> metrics;
};
constexpr std::array kArenas{Arena::kLazy, Arena::kRuntime};
Registry& RegistryOf(Arena arena) {
  static auto& registries = *new std::array<Registry, kArenas.size()>;
  return registries[size_t(arena)];
}

template <class Map, class Make>
auto& FindOrMake(std::mutex& mutex, Map& map, std::string_view name, Make&& make) {
  std::lock_guard lock(mutex);
  auto found = map.find(name);
  if (found == map.end()) found = map.emplace(std::string(name), make()).first;
  return *found->second;
}

}  // namespace

Counter& Counter::Of(std::string_view name, Arena arena) {
  Registry& registry = RegistryOf(arena);
  return FindOrMake(registry.mutex, registry.counters, name,
                    [] { return std::make_unique<Counter>(); });
}

Metric& Metric::Of(std::string_view name, Unit unit, Arena arena) {
  Registry& registry = RegistryOf(arena);
  return FindOrMake(registry.mutex, registry.metrics, name,
                    [&] { return std::make_unique<Metric>(unit); });
}

Metric::Metric(Unit unit) : unit_(unit) {}

void Metric::Add(double value, int64_t count) {
  const Sample sample{ClockNs(CLOCK_REALTIME), value, count};
  std::lock_guard lock(mutex_);
  data_.count += count;
  data_.total += value * double(count);
  if (data_.samples.size() < environment().metrics_samples) {
    data_.samples.push_back(sample);
  } else {
    data_.samples[oldest_] = sample;
    oldest_ = (oldest_ + 1) % data_.samples.size();
  }
}

MetricData Metric::data() const {
  std::lock_guard lock(mutex_);
  MetricData data = data_;
  std::rotate(data.samples.begin(), data.samples.begin() + int64_t(oldest_), data.samples.end());
  return data;
}

void Metric::Clear() {
  std::lock_guard lock(mutex_);
  data_ = {};
  oldest_ = 0;
}

Timed::Timed(Metric& metric) : metric_(metric), begin_ns_(ClockNs(CLOCK_MONOTONIC)) {}
Timed::~Timed() { metric_.Add(double(ClockNs(CLOCK_MONOTONIC) - begin_ns_)); }

void SampledCall::Begin() { begin_ns_ = ClockNs(CLOCK_MONOTONIC); }

void SampledCall::End() {
  constexpr int64_t kLongestPeriod = 64;
  metric_.Add(double(ClockNs(CLOCK_MONOTONIC) - begin_ns_), period_);
  static thread_local int64_t sampled = 0;
  if (++sampled >= kLongestPeriod) period_ = kLongestPeriod;
  until_sample_ = period_;
}

}  // namespace metrics

using metrics::Arena;

namespace {

// Calls `f` for each counter or metric with a value, in the order of a report.
template <class F>
void EachCounter(Arena arena, F&& f) {
  metrics::Registry& registry = metrics::RegistryOf(arena);
  std::lock_guard lock(registry.mutex);
  for (const auto& [name, counter] : registry.counters) {
    if (counter->value() > 0) f(name, counter->value());
  }
}
template <class F>
void EachMetric(Arena arena, F&& f) {
  metrics::Registry& registry = metrics::RegistryOf(arena);
  std::lock_guard lock(registry.mutex);
  for (const auto& [name, metric] : registry.metrics) {
    metrics::MetricData data = metric->data();
    if (data.count > 0) f(name, metric->unit(), data);
  }
}

std::string UnitText(metrics::Unit unit, double value) {
  switch (unit) {
    case metrics::Unit::kBytes:
      return metrics::TorchBytesText(value);
    case metrics::Unit::kTimeNs:
      return metrics::DurationText(value);
    case metrics::Unit::kValue:
      break;
  }
  return fmt::format("{:.2f}", value);
}

void Print(std::string_view name, metrics::Unit unit, const metrics::MetricData& data,
           std::string* out) {
  *out += fmt::format("Metric: {}\n  TotalSamples: {}\n  Accumulator: {}\n", name, data.count,
                      UnitText(unit, data.total));
  std::vector<double> values;
  double sum = 0, count = 0;
  for (const metrics::Sample& sample : data.samples) {
    values.push_back(sample.value);
    sum += sample.value * double(sample.count);
    count += double(sample.count);
  }
  if (const int64_t ns = data.samples.back().ts_ns - data.samples.front().ts_ns; ns > 0) {
    *out += fmt::format("  ValueRate: {} / second\n  Rate: {:g} / second\n",
                        UnitText(unit, 1e9 * sum / double(ns)), 1e9 * count / double(ns));
  }
  std::sort(values.begin(), values.end());
  *out += "  Percentiles: ";
  const char* before = "";
  for (double p : environment().metrics_percentiles) {
    *out += fmt::format("{}{:g}%={}", before, p * 100,
                        UnitText(unit, values[size_t(p * double(values.size()))]));
    before = "; ";
  }
  *out += '\n';
}

void Print(std::string_view name, int64_t value, std::string* out) {
  *out += fmt::format("Counter: {}\n  Value: {}\n", name, value);
}

bool Contains(std::span<const std::string> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

std::string metrics_report() {
  std::string report;
  for (Arena arena : metrics::kArenas) {
    EachMetric(arena, [&](auto& name, auto unit, auto& data) { Print(name, unit, data, &report); });
    EachCounter(arena, [&](auto& name, int64_t value) { Print(name, value, &report); });
  }
  return report;
}

std::string short_metrics_report(std::span<const std::string> counters,
                                 std::span<const std::string> metrics) {
  static const std::vector<std::string> kCounters{metric_names::kCachedCompile,
                                                  metric_names::kMarkStep};
  static const std::vector<std::string> kMetrics{
      metric_names::kCompileTime, metric_names::kExecuteTime, metric_names::kExecuteReplicatedTime,
      metric_names::kTransferToDeviceTime, metric_names::kTransferFromDeviceTime};
  if (counters.empty()) counters = kCounters;
  if (metrics.empty()) metrics = kMetrics;
  std::string report;
  for (Arena arena : metrics::kArenas) {
    EachMetric(arena, [&](auto& name, auto unit, auto& data) {
      if (Contains(metrics, name)) Print(name, unit, data, &report);
    });
    EachCounter(arena, [&](auto& name, int64_t value) {
      if (Contains(counters, name)) Print(name, value, &report);
    });
    EachCounter(arena, [&](auto& name, int64_t value) {
      if (name.starts_with("aten::")) Print(name, value, &report);
    });
  }
  return report;
}

std::vector<std::string> counter_names() {
  std::vector<std::string> names;
  for (Arena arena : metrics::kArenas)
    EachCounter(arena, [&](auto& name, int64_t) { names.push_back(name); });
  return names;
}

std::optional<int64_t> counter_value(std::string_view wanted) {
  std::optional<int64_t> found;
  for (Arena arena : metrics::kArenas) {
    EachCounter(arena, [&](auto& name, int64_t value) {
      if (!found && name == wanted) found = value;
    });
  }
  return found;
}

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (Arena arena : metrics::kArenas)
    EachMetric(arena, [&](auto& name, auto, auto&) { names.push_back(name); });
  return names;
}

std::optional<metrics::MetricData> metric_data(std::string_view wanted) {
  std::optional<metrics::MetricData> found;
  for (Arena arena : metrics::kArenas) {
    EachMetric(arena, [&](auto& name, auto, auto& data) {
      if (!found && name == wanted) found = data;
    });
  }
  return found;
}

void clear_counters() {
  for (Arena arena : metrics::kArenas) {
    metrics::Registry& registry = metrics::RegistryOf(arena);
    std::lock_guard lock(registry.mutex);
    for (auto& [name, counter] : registry.counters) counter->Clear();
  }
}

void clear_metrics() {
  for (Arena arena : metrics::kArenas) {
    metrics::Registry& registry = metrics::RegistryOf(arena);
    std::lock_guard lock(registry.mutex);
    for (auto& [name, metric] : registry.metrics) metric->Clear();
  }
}

void clear_all() {
  clear_metrics();
  clear_counters();
}

std::vector<std::string> executed_fallback_ops() {
  std::vector<std::string> names;
  EachCounter(Arena::kRuntime, [&](auto& name, int64_t) {
    if (name.find("::") != std::string::npos) names.push_back(name);
  });
  return names;
}

}  // namespace xlaprof::lazy
