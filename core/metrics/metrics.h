// Counters and metrics with torch_xla's names and meanings, and its reports of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/metrics/thread_cells.h"

namespace xlaprof::lazy {

namespace metrics {

// The registries of the lazy graphs and of the device. A report prints kLazy first.
enum class Arena : uint8_t { kLazy, kRuntime };
// Selects how values are printed.
enum class Unit : uint8_t { kValue, kBytes, kTimeNs };

// A counter. Counters and metrics live as long as the process, and any thread may use them.
class Counter {
 public:
  // Returns the counter of this name, creating it on first use.
  static Counter& Of(std::string_view name, Arena arena = Arena::kLazy);
  void Add(int64_t n = 1) { cells_.Add(n); }
  int64_t value() const { return cells_.sum() - cleared_.load(std::memory_order_relaxed); }
  void Clear() { cleared_.store(cells_.sum(), std::memory_order_relaxed); }

 private:
  ThreadCells cells_;
  std::atomic<int64_t> cleared_{0};  // the sum at the last Clear()
};

struct Sample {
  int64_t ts_ns = 0;  // Unix time at which the measured thing ended
  double value = 0;
  int64_t count = 1;  // number of calls that it stands for: itself and unmeasured ones
};
struct MetricData {
  int64_t count = 0;            // number of calls that all values stood for
  double total = 0;             // sum of their values
  std::vector<Sample> samples;  // the last ones, oldest first
};

// The sum and the last values of what is measured, such as a time or a number of bytes.
class Metric {
 public:
  // Returns the metric of this name, creating it on first use.
  static Metric& Of(std::string_view name, Unit unit, Arena arena);
  void Add(double value, int64_t count = 1);
  MetricData data() const;
  Unit unit() const { return unit_; }
  void Clear();
  explicit Metric(Unit unit);

 private:
  const Unit unit_;
  mutable std::mutex mutex_;
  MetricData data_;    // its values are a ring
  size_t oldest_ = 0;  // index of the oldest value
};

// Adds the time from its construction to its destruction to a metric, in nanoseconds.
class Timed {
 public:
  explicit Timed(Metric& metric);
  ~Timed();
  Timed(const Timed&) = delete;

 private:
  Metric& metric_;
  const int64_t begin_ns_;
};

// Adds the time from its construction to its destruction for some of a thread's calls: each of the
// first 64, then one in 64. A value stands for all calls since the previous one. This class is for
// calls that take less time than two reads of the clock.
class SampledCall {
 public:
  explicit SampledCall(Metric& metric) : metric_(metric) {
    if (--until_sample_ == 0) [[unlikely]]
      Begin();
  }
  ~SampledCall() {
    if (begin_ns_ != 0) [[unlikely]]
      End();
  }
  SampledCall(const SampledCall&) = delete;

 private:
  void Begin();
  void End();

  static inline constinit thread_local int64_t until_sample_ = 1, period_ = 1;
  Metric& metric_;
  int64_t begin_ns_ = 0;
};

// Returns a duration in torch_xla's form, 02s500ms000.000us. Each part is exact, whereas torch_xla
// rounds and subtracts.
std::string DurationText(double ns);
// Returns a number of bytes in torch_xla's form, 1.50KB.
std::string TorchBytesText(double bytes);

}  // namespace metrics

// The functions of torch_xla.debug.metrics, with its names. Lists of names include only names with
// a value.
std::string metrics_report();
// Returns a short report. By default, the counters are CachedCompile and MarkStep, and the metrics
// are CompileTime, ExecuteTime and the transfers. Fallbacks are always included.
std::string short_metrics_report(std::span<const std::string> counters = {},
                                 std::span<const std::string> metrics = {});
std::vector<std::string> counter_names();
std::optional<int64_t> counter_value(std::string_view name);
std::vector<std::string> metric_names();
std::optional<metrics::MetricData> metric_data(std::string_view name);
void clear_counters();
void clear_metrics();
void clear_all();
// Returns the names of operations that ran on the CPU.
std::vector<std::string> executed_fallback_ops();

}  // namespace xlaprof::lazy

// Adds 1 to a counter: XLAPROF_COUNT("CachedCompile"). The name is looked up only once.
#define XLAPROF_COUNT(name)                             \
  do {                                                  \
    static ::xlaprof::lazy::metrics::Counter& counter = \
        ::xlaprof::lazy::metrics::Counter::Of(name);    \
    counter.Add();                                      \
  } while (false)
