// Converts real numbers from files to integers.
#pragma once

#include <algorithm>
#include <cstdint>

namespace xlaprof {

// Returns `value` without its fraction, limited to 2^60 either way, or 0 if it is not a number. The
// limit is 36 years of nanoseconds, the bound of the importers' times, so that a few of them can be
// added. A plain cast is undefined for values that int64_t cannot hold, and files hold such values.
inline int64_t Whole(double value) {
  constexpr double kMost = 0x1p60;
  return value == value ? int64_t(std::clamp(value, -kMost, kMost)) : 0;
}

}  // namespace xlaprof
