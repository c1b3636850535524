// Reads the numbers of a metrics report, which carry their unit.
#pragma once

#include <optional>
#include <string_view>

#include "profiler/store/vocabulary.h"

namespace xlaprof {

struct MetricNumber {
  double value = 0;
  MetricUnit unit = MetricUnit::kUnknown;
};

// Reads `02s500ms001.250us`, `75.00MB` or `1382.00`. Returns nothing if `text` is none of these. A
// duration is returned in ns as a whole number, exactly what torch_xla had (see DecodeDurationNs).
std::optional<MetricNumber> ParseMetricNumber(std::string_view text);

}  // namespace xlaprof
