#include "analyzers/quantity.h"

#include <fmt/format.h>

namespace xlaprof {

std::string DurationText(int64_t ns) {
  const double x = double(ns);
  if (x >= 999.5e9) return fmt::format("{:.0f} s", x / 1e9);
  if (x >= 999.5e6) return fmt::format("{:.3g} s", x / 1e9);
  if (x >= 999.5e3) return fmt::format("{:.3g} ms", x / 1e6);
  if (x >= 1e3) return fmt::format("{:.3g} us", x / 1e3);
  return fmt::format("{} ns", ns);
}

std::string BytesText(double bytes) {
  const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1023.5 && unit < 4) bytes /= 1024, ++unit;
  return fmt::format("{:.4g} {}", bytes, units[unit]);
}

}  // namespace xlaprof
