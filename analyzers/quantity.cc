#include "analyzers/quantity.h"

#include <fmt/format.h>

#include <cmath>

#include "base/whole.h"

namespace xlaprof {
namespace {

// Formats with three significant digits, and with an exponent only for extreme values.
std::string Digits(double x) {
  if (x >= 99.95 && x < 0x1p60) return CountText(Whole(std::round(x)));
  return fmt::format("{:.3g}", x);
}

}  // namespace

std::string DurationText(int64_t ns) {
  if (ns < 0) return ns == INT64_MIN ? "?" : "-" + DurationText(-ns);
  const double x = double(ns);
  if (x >= 999.5e6) return Digits(x / 1e9) + " s";
  if (x >= 999.5e3) return Digits(x / 1e6) + " ms";
  if (x >= 999.5) return Digits(x / 1e3) + " us";
  return fmt::format("{} ns", ns);
}

std::string BytesText(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 999.5 && unit < 4) bytes /= 1000, ++unit;
  return fmt::format("{} {}", Digits(bytes), units[unit]);
}

std::string CountText(int64_t count) {
  std::string digits = fmt::to_string(count);
  for (int at = int(digits.size()) - 3; at > (count < 0 ? 1 : 0); at -= 3)
    digits.insert(size_t(at), ",");
  return digits;
}

std::string Plural(int64_t count, std::string_view one, std::string_view many) {
  std::string text =
      fmt::format("{} {}", CountText(count), count == 1 || many.empty() ? one : many);
  return count == 1 || !many.empty() ? text : text + "s";
}

std::string TimesText(int64_t count) { return count == 1 ? "once" : Plural(count, "time"); }

std::string PerStepText(double per_step) {
  constexpr double kRare = 0.75;
  if (per_step <= 0 || per_step > kRare) return fmt::format("{:.3g} a step", per_step);
  return fmt::format("once every {:.3g} steps", 1 / per_step);
}

std::string HowOften(std::optional<int64_t> count, std::optional<double> per_step) {
  std::string text;
  if (count) text = fmt::format(", {}", TimesText(*count));
  if (per_step) text += fmt::format(" ({})", PerStepText(*per_step));
  return text;
}

std::string PercentText(double part) {
  double percent = part * 100;
  if (percent > 0 && percent < 0.1) return "< 0.1 %";
  return fmt::format("{:.{}f} %", percent, percent > 0 && percent < 9.95 ? 1 : 0);
}

std::string ListText(const std::vector<std::string>& parts) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

}  // namespace xlaprof
