// Reads a POSIX clock as one number.
#pragma once

#include <cstdint>
#include <ctime>

namespace xlaprof {

// Returns the current time of CLOCK_REALTIME (since 1970), CLOCK_MONOTONIC or
// CLOCK_THREAD_CPUTIME_ID in nanoseconds.
inline int64_t ClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace xlaprof
