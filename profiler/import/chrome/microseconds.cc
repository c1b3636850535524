#include "profiler/import/chrome/microseconds.h"

#include <charconv>

#include "base/numbers.h"

namespace xlaprof {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kMaxNs = int64_t(1) << 62;
constexpr int kPsDigits = 6;  // picoseconds per microsecond: 10^6
// A Wide holds this many digits. Further ones are only counted.
constexpr int kMaxDigits = 30;

bool FromPs(Wide ps, Picoseconds* time) {
  Wide ns = ps / 1000;
  if (ps % 1000 < 0) --ns;
  if (ns > kMaxNs || ns < -kMaxNs) return false;
  time->ns = int64_t(ns);
  time->ps = int32_t(ps - ns * 1000);
  return true;
}

// Reads a time of any sign, length and exponent.
bool ParseSlowly(std::string_view text, Picoseconds* time) {
  size_t i = 0;
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  Wide digits = 0;
  int64_t kept = 0, scale = 0, seen = 0;  // value = digits * 10^scale
  bool point = false;
  for (; i < text.size() && (IsDigit(text[i]) || (text[i] == '.' && !point)); ++i) {
    if (text[i] == '.') {
      point = true;
      continue;
    }
    ++seen;
    if (kept < kMaxDigits) {
      digits = digits * 10 + (text[i] - '0');
      if (digits != 0) ++kept;
      if (point) --scale;
    } else if (!point) {
      ++scale;
    }
  }
  if (seen == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && text[i] == '+') ++i;
    int32_t exponent = 0;
    auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), exponent);
    if (error == std::errc::result_out_of_range) {
      // A tiny number is zero; a huge one is not a time.
      if (text[i] != '-' && digits != 0) return false;
      *time = {};
      return true;
    }
    if (error != std::errc()) return false;
    i = size_t(end - text.data());
    scale += exponent;
  }
  if (i != text.size()) return false;
  scale += kPsDigits;
  bool rest = false;  // digits below the picosecond were dropped
  for (; scale < 0 && digits != 0; ++scale) {
    rest |= digits % 10 != 0;
    digits /= 10;
  }
  for (; scale > 0 && digits != 0; --scale) {
    if (digits > (Wide(kMaxNs) * 1000)) return false;
    digits *= 10;
  }
  return FromPs(negative ? -digits - (rest ? 1 : 0) : digits, time);
}

}  // namespace

bool microseconds::ParseAny(std::string_view text, Picoseconds* time) {
  // Up to 15 digits before the point (30 years) or 16 (300), and six after it, are read here.
  constexpr size_t kFastDigits = 16;
  size_t i = 0;
  int64_t us = 0;
  while (i < text.size() && i <= kFastDigits && IsDigit(text[i])) us = us * 10 + (text[i++] - '0');
  if (i == 0 || i > kFastDigits || us > kMaxNs / 1000 - 1) return ParseSlowly(text, time);
  int32_t ps = 0;
  if (i < text.size()) {
    if (text[i] != '.') return ParseSlowly(text, time);
    int digits = 0;
    for (++i; i < text.size() && IsDigit(text[i]); ++i) {
      if (digits < kPsDigits) ps = ps * 10 + (text[i] - '0'), ++digits;
    }
    if (i != text.size()) return ParseSlowly(text, time);
    for (; digits < kPsDigits; ++digits) ps *= 10;
  }
  time->ns = us * 1000 + ps / 1000;
  time->ps = ps % 1000;
  return true;
}

}  // namespace xlaprof
