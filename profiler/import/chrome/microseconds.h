// Reads the times of Chrome JSON: microseconds as decimal text, with any number of digits after the
// point. A double holds times since 1970 only to a quarter of a microsecond, so they are read as
// text.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace xlaprof {

// Whole nanoseconds, rounded down, and the picoseconds left over: 0 to 999.
struct Picoseconds {
  int64_t ns = 0;
  int32_t ps = 0;
};

namespace microseconds {

// Returns the values of the characters at `at`, if they are digits.
static_assert(std::endian::native == std::endian::little);
template <class Word>
uint64_t Digits(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof(word));
  return word ^ Word(0x3030303030303030);
}

inline bool AreDigits(uint64_t values) {
  return (((values + 0x7676767676767676) | values) & 0x8080808080808080) == 0;
}

// Returns the number that eight digits in one word make, the first of which is its lowest byte. It
// takes three multiplications instead of eight (D. Lemire, "Quickly parsing eight digits", 2018).
inline uint64_t OfEightDigits(uint64_t digits) {
  constexpr uint64_t kPairs = 0x000000ff000000ff;
  digits = digits * 10 + (digits >> 8);  // two digits in each second byte
  return ((digits & kPairs) * (100 + (uint64_t(1'000'000) << 32)) +
          (digits >> 16 & kPairs) * (1 + (uint64_t(10'000) << 32))) >>
         32;
}

// Reads a time in the form that most writers use: "495505.543", one to thirteen digits, a point and
// three more. Returns false if it has another form.
inline bool ParseUsual(std::string_view text, int64_t* ns) {
  if (text.size() < 5 || text.size() > 17 || text[text.size() - 4] != '.') return false;
  const char* at = text.data();
  const size_t count = text.size() - 4;  // number of digits before the point
  const uint64_t behind = (Digits<uint32_t>(at + count) >> 8) << 40;
  // The last eight of all digits, and the digits before them.
  uint64_t low = 0, high = 0;
  if (count <= 4) {
    low = ((Digits<uint32_t>(at) << (8 * (8 - count))) >> 24) | behind;
  } else {
    low = (Digits<uint64_t>(at + count - 5) & 0xff'ffff'ffff) | behind;
    if (count > 5) high = Digits<uint64_t>(at) << (8 * (13 - count));
  }
  if (!AreDigits(low) || !AreDigits(high)) return false;
  *ns = int64_t(OfEightDigits(low));
  if (high != 0) *ns += int64_t(OfEightDigits(high) * 100'000'000);
  return true;
}

bool ParseAny(std::string_view text, Picoseconds* time);

}  // namespace microseconds

// Reads a time such as "1712195495505543.2", "-3" or "1.5e3". Returns false if it is not a decimal
// number or is beyond 2^62 ns. Rounds down to a picosecond.
inline bool ParseMicroseconds(std::string_view text, Picoseconds* time) {
  time->ps = 0;
  if (microseconds::ParseUsual(text, &time->ns)) [[likely]]
    return true;
  return microseconds::ParseAny(text, time);
}

}  // namespace xlaprof
