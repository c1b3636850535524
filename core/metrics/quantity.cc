#include <fmt/format.h>

#include <cmath>

#include "core/metrics/metrics.h"

namespace xlaprof::lazy::metrics {

std::string DurationText(double ns) {
  static constexpr struct {
    double ns;
    const char* name;
    int width;
  } kParts[] = {{86400e9, "d", 2}, {3600e9, "h", 2}, {60e9, "m", 2}, {1e9, "s", 2}, {1e6, "ms", 3}};
  std::string text;
  // Rounds to whole nanoseconds, as printed, before it divides, so that the parts are exact.
  double left = std::round(ns);
  for (const auto& part : kParts) {
    const double count = std::floor(left / part.ns);
    if (count < 1 && text.empty()) continue;
    text += fmt::format("{:0{}.0f}{}", count, part.width, part.name);
    left -= count * part.ns;
  }
  return text + fmt::format("{:07.3f}us", left / 1e3);
}

std::string TorchBytesText(double bytes) {
  static constexpr const char* kSuffixes[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t i = 0;
  while (bytes >= 1024 && i + 1 < std::size(kSuffixes)) bytes /= 1024, ++i;
  return fmt::format("{:.2f}{}", bytes, kSuffixes[i]);
}

}  // namespace xlaprof::lazy::metrics
