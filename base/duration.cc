#include "base/duration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/numbers.h"

namespace xlaprof {
namespace {

struct Part {
  std::string_view unit;
  double ns;
};
// The units go from largest to smallest. The smallest, `us`, is printed exactly, with three
// decimals.
constexpr std::array<Part, 6> kParts = {
    {{"d", 86400e9}, {"h", 3600e9}, {"m", 60e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}}};

constexpr double kMostNs = 0x1p60;  // 36 years, the bound of every imported time

}  // namespace

std::optional<double> DecodeDurationNs(std::string_view text) {
  std::array<double, kParts.size()> printed{};
  std::array<bool, kParts.size()> present{};
  bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  size_t next_part = 0;
  while (!text.empty()) {
    size_t digits = text.find_first_not_of("0123456789.");
    if (digits == 0 || digits == std::string_view::npos) return std::nullopt;
    std::optional<double> number = ParseReal(text.substr(0, digits));
    text.remove_prefix(digits);
    size_t letters = std::min(text.find_first_of("0123456789."), text.size());
    size_t part = next_part;
    while (part < kParts.size() && kParts[part].unit != text.substr(0, letters)) ++part;
    if (!number || part == kParts.size()) return std::nullopt;
    // Only microseconds have decimals.
    if (part + 1 < kParts.size() && *number != std::floor(*number)) return std::nullopt;
    printed[part] = *number;
    present[part] = true;
    next_part = part + 1;
    text.remove_prefix(letters);
  }
  if (next_part == 0) return std::nullopt;
  double total_ns = 0;
  for (size_t i = kParts.size(); i-- > 0;) {
    if (!present[i]) continue;
    double value = printed[i];
    if (i + 1 < kParts.size()) {
      if (value >= 1 && total_ns > kParts[i].ns / 2) value -= 1;
      total_ns += value * kParts[i].ns;
    } else {
      total_ns = std::round(value * 1e3);  // three decimals: whole nanoseconds
    }
  }
  if (total_ns > kMostNs) return std::nullopt;
  return negative ? -total_ns : total_ns;
}

}  // namespace xlaprof
