// Times of Chrome JSON: microseconds as decimal text, with any number of digits behind the point.
// A double holds them to a quarter of a microsecond since 1970 only, so they are read as text.
#pragma once

#include <cstdint>
#include <string_view>

namespace xlaprof {

// Whole nanoseconds, floored, and the picoseconds left over: 0 to 999.
struct Picoseconds {
  int64_t ns = 0;
  int32_t ps = 0;
};

// "1712195495505543.2", "-3", "1.5e3". False when it is no decimal number or beyond 2^62 ns. Digits
// behind the picosecond are dropped.
bool ParseMicroseconds(std::string_view text, Picoseconds* time);

}  // namespace xlaprof
