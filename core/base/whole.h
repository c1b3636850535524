// Real numbers of files as whole ones.
#pragma once

#include <algorithm>
#include <cstdint>

namespace xlaprof {

// `value` without its fraction; at most 2^60 either way (36 years of nanoseconds, the bound of the
// importers' times, so that a few of them can be added), and 0 where it is not a number. A plain
// cast is undefined for what int64_t cannot hold, and files hold such numbers.
inline int64_t Whole(double value) {
  constexpr double kMost = 0x1p60;
  return value == value ? int64_t(std::clamp(value, -kMost, kMost)) : 0;
}

}  // namespace xlaprof
