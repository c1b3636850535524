// Reads the dumps in a file of Gaudi's metrics, one after the other.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiler/store/store.h"

namespace xlaprof {

// Says what made Gaudi write a dump.
enum class GaudiTrigger : uint8_t {
  kOther,         // the program asked for it, or a trigger that is unknown here
  kMetricChange,  // the metric has just changed
  kProcessExit,   // the process ends
};

// One metric as it was at one time. All numbers count since the start of the process, unless the
// program reset the metric.
struct GaudiDump {
  std::string metric;  // graph_compilation, cpu_fallback, memory_defragmentation, recipe_cache
  GaudiTrigger trigger = GaudiTrigger::kOther;
  // By the clock of the host in its own time zone, which no dump names: only differences mean
  // something.
  OptInt at_ns;
  std::vector<std::pair<std::string, double>> numbers;  // TotalNumber, TotalTime, ...
  std::vector<std::pair<std::string, int64_t>> ops;     // FallbackOps: calls of each op
  int64_t offset = 0, line = 0;

  // Returns a number as a count; nothing if the dump has none.
  OptInt Count(std::string_view name) const;
};

struct GaudiFileEnd {
  bool cut = false;        // the file ends inside a dump
  int64_t not_a_dump = 0;  // objects or blocks that are no dump
  int64_t first_odd = 0;   // offset of the first of those
};

// Returns whether text is like such a file, as JSON or as text.
bool IsGaudiJson(std::string_view head);
bool IsGaudiText(std::string_view head);

// Calls fn with each dump of a file of either form.
absl::StatusOr<GaudiFileEnd> EachGaudiDump(std::string_view file,
                                           const std::function<absl::Status(GaudiDump)>& fn);

}  // namespace xlaprof
