// Counters and metrics by torch_xla's names and with their meanings, and its reports of them.
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

// Two registries, printed one after the other: that of the lazy graphs, and that of the device.
enum class Arena : uint8_t { kLazy, kRuntime };
// How values are written.
enum class Unit : uint8_t { kValue, kBytes, kTimeNs };

// Both kinds live as long as the process, and may be used from any thread.
class Counter {
 public:
  // The counter of this name; made when it is asked for first.
  static Counter& Of(std::string_view name, Arena arena = Arena::kLazy);
  void Add(int64_t n = 1) { cells_.Add(n); }
  int64_t value() const { return cells_.sum() - cleared_.load(std::memory_order_relaxed); }
  void Clear() { cleared_.store(cells_.sum(), std::memory_order_relaxed); }

 private:
  ThreadCells cells_;
  std::atomic<int64_t> cleared_{0};  // what was there at the last Clear()
};

struct Sample {
  int64_t ts_ns = 0;  // when what it measures was over, since 1970
  double value = 0;
  int64_t count = 1;  // of what it stands for: itself, and what was not measured
};
struct MetricData {
  int64_t count = 0;            // of what samples stood for, ever
  double total = 0;             // of their values
  std::vector<Sample> samples;  // the last ones, oldest first
};

class Metric {
 public:
  static Metric& Of(std::string_view name, Unit unit, Arena arena);
  void Add(double value, int64_t count = 1);
  MetricData data() const;
  Unit unit() const { return unit_; }
  void Clear();
  explicit Metric(Unit unit);

 private:
  const Unit unit_;
  mutable std::mutex mutex_;
  MetricData data_;    // samples: a ring
  size_t oldest_ = 0;  // of them
};

// Adds the time from here to the end of the block, in nanoseconds.
class Timed {
 public:
  explicit Timed(Metric& metric);
  ~Timed();
  Timed(const Timed&) = delete;

 private:
  Metric& metric_;
  const int64_t begin_ns_;
};

// Adds the time from here to the end of the block for some calls of a thread, which stand for those
// since the one before: each of the first, then one in 64. For calls that take less time than two
// reads of the clock.
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

// A duration as torch_xla writes it, but true in each part: 02s500ms000.000us, where torch_xla
// rounds and subtracts.
std::string DurationText(double ns);
std::string BytesText(double bytes);

}  // namespace metrics

// torch_xla.debug.metrics, by its names. Names are of those that have a value.
std::string metrics_report();
// Empty: CachedCompile, MarkStep; CompileTime, ExecuteTime, transfers. Fallbacks always.
std::string short_metrics_report(std::span<const std::string> counters = {},
                                 std::span<const std::string> metrics = {});
std::vector<std::string> counter_names();
std::optional<int64_t> counter_value(std::string_view name);
std::vector<std::string> metric_names();
std::optional<metrics::MetricData> metric_data(std::string_view name);
void clear_counters();
void clear_metrics();
void clear_all();
// Operations that ran on the CPU.
std::vector<std::string> executed_fallback_ops();

}  // namespace xlaprof::lazy

// XLAPROF_COUNT("CachedCompile"): looked up once.
#define XLAPROF_COUNT(name)                             \
  do {                                                  \
    static ::xlaprof::lazy::metrics::Counter& counter = \
        ::xlaprof::lazy::metrics::Counter::Of(name);    \
    counter.Add();                                      \
  } while (false)
