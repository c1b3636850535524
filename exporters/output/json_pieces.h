// Writes numbers as pieces of JSON (exporters/output/pieces.h).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#include "exporters/output/pieces.h"

namespace xlaprof {

// The longest 64-bit number, with sign and decimal point.
inline constexpr size_t kIntegerBytes = 22;

// Returns the values of the 8 digits of a number below 10^8, the first in the lowest byte.
inline uint64_t EightDigits(uint32_t number) {
  const uint64_t fours = number / 10000 | uint64_t(number % 10000) << 32;
  const uint64_t hundreds = (fours * 10486 >> 20) & 0x0000007f0000007f;
  const uint64_t twos = hundreds | (fours - hundreds * 100) << 16;
  const uint64_t tens = (twos * 103 >> 10) & 0x000f000f000f000f;
  return tens | (twos - tens * 10) << 8;
}

char* PutManyDigits(char* to, uint64_t number);

inline constexpr uint64_t kEightZeros = 0x3030303030303030, kEightDigits = 100'000'000;

inline char* PutDigits(char* to, uint64_t number) {
  if (number >= kEightDigits) [[unlikely]]
    return PutManyDigits(to, number);
  const uint64_t digits = EightDigits(uint32_t(number));
  // Skips leading zeros; a number has at least one digit.
  const int skipped = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  const uint64_t text = (digits | kEightZeros) >> (8 * skipped);
  std::memcpy(to, &text, 8);
  return to + 8 - skipped;
}

// Writes a number of more than 8 digits.
[[gnu::noinline]] inline char* PutManyDigits(char* to, uint64_t number) {
  to = PutDigits(to, number / kEightDigits);
  const uint64_t text = EightDigits(uint32_t(number % kEightDigits)) | kEightZeros;
  std::memcpy(to, &text, 8);
  return to + 8;
}

// The texts `.000` to `.999`.
inline constexpr auto kDecimals = [] {
  std::array<std::array<char, 4>, 1000> all{};
  for (int i = 0; i < 1000; ++i)
    all[size_t(i)] = {'.', char('0' + i / 100), char('0' + i / 10 % 10), char('0' + i % 10)};
  return all;
}();

// Writes `ns` as microseconds with three decimals.
inline char* PutMicros(char* to, uint64_t ns) {
  to = PutDigits(to, ns / 1000);
  std::memcpy(to, &kDecimals[ns % 1000], 4);
  return to + 4;
}

}  // namespace xlaprof
