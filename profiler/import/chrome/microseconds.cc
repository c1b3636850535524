#include "profiler/import/chrome/microseconds.h"

#include <bit>
#include <charconv>
#include <cstring>

namespace xlaprof {
namespace {

__extension__ using Wide = __int128;

constexpr int64_t kMaxNs = int64_t(1) << 62;
constexpr int kPsDigits = 6;  // picoseconds a microsecond: 10^6
// So many digits fit a Wide; more are only counted.
constexpr int kMaxDigits = 30;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool FromPs(Wide ps, Picoseconds* time) {
  Wide ns = ps / 1000;
  if (ps % 1000 < 0) --ns;
  if (ns > kMaxNs || ns < -kMaxNs) return false;
  time->ns = int64_t(ns);
  time->ps = int32_t(ps - ns * 1000);
  return true;
}

// Any sign, length and exponent.
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
      // Tiny is zero, huge is no time.
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
  bool rest = false;  // of a negative number: something below the picosecond
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

// Of eight digits in one word, the first of which is its lowest byte, by three multiplications
// instead of eight (D. Lemire, "Quickly parsing eight digits", 2018).
uint64_t OfEightDigits(uint64_t digits) {
  constexpr uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8);  // two digits in each second byte
  return ((digits & kPairs) * (100 + (uint64_t(1'000'000) << 32)) +
          (digits >> 16 & kPairs) * (1 + (uint64_t(10'000) << 32))) >>
         32;
}

bool AreDigits(uint64_t values) {
  return (((values + 0x7676767676767676) | values) & 0x8080808080808080) == 0;
}

// What the characters at `at` are worth, if they are digits.
static_assert(std::endian::native == std::endian::little);
template <class Word>
uint64_t Digits(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word ^ Word(0x3030303030303030);
}

// "1712195495505.543": 1 to 15 digits, a point and three more. False: it is written otherwise.
bool ParseUsual(std::string_view text, Picoseconds* time) {
  if (text.size() < 5 || text.size() > 19 || text[text.size() - 4] != '.') return false;
  const char* at = text.data();
  const size_t count = text.size() - 4;  // of the digits before the point
  const uint64_t behind = Digits<uint32_t>(at + count) >> 8;
  uint64_t high = 0, low = 0;
  if (count <= 4) {
    low = Digits<uint32_t>(at) << 8 * (8 - count);
  } else if (count <= 8) {
    low = Digits<uint64_t>(at) << 8 * (8 - count);
  } else {
    high = Digits<uint64_t>(at) << 8 * (16 - count);
    low = Digits<uint64_t>(at + count - 8);
  }
  if (!AreDigits(high) || !AreDigits(low) || !AreDigits(behind)) return false;
  const uint64_t us = OfEightDigits(high) * 100'000'000 + OfEightDigits(low);
  *time = {.ns = int64_t(us * 1000 + OfEightDigits(behind << 40)), .ps = 0};
  return true;
}

}  // namespace

bool ParseMicroseconds(std::string_view text, Picoseconds* time) {
  if (ParseUsual(text, time)) [[likely]]
    return true;
  // Up to 15 digits before the point (30 years) or 16 (300), and six behind it, are read here.
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
