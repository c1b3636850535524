#include "profiler/import/torch_xla/metric_number.h"

#include <cmath>

#include "base/duration.h"
#include "base/numbers.h"

namespace xlaprof {
namespace {

// Reads a size such as 75.00MB. Its prefixes are powers of 1024, although the labels look decimal.
std::optional<double> ParseBytes(std::string_view text) {
  if (!text.ends_with('B')) return std::nullopt;
  text.remove_suffix(1);
  double scale = 1;
  static constexpr std::string_view kPrefixes = "KMGTPE";
  if (size_t power = text.empty() ? std::string_view::npos : kPrefixes.find(text.back());
      power != std::string_view::npos) {
    scale = std::ldexp(1.0, 10 * (int(power) + 1));
    text.remove_suffix(1);
  }
  std::optional<double> value = ParseReal(text);
  if (!value) return std::nullopt;
  // Plain bytes keep their decimals, because the number may be a rate.
  return scale == 1 ? *value : std::round(*value * scale);
}

}  // namespace

std::optional<MetricNumber> ParseMetricNumber(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  if (auto value = ParseReal(text)) return MetricNumber{*value, MetricUnit::kValue};
  if (auto value = DecodeDurationNs(text)) return MetricNumber{*value, MetricUnit::kNs};
  if (auto value = ParseBytes(text)) return MetricNumber{*value, MetricUnit::kBytes};
  return std::nullopt;
}

}  // namespace xlaprof
