// Times and sizes as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace xlaprof {

std::string DurationText(int64_t ns);   // 12.3 s, 4.56 ms, 789 us, 12 ns
std::string BytesText(double bytes);    // 1.5 GiB, 512 KiB, 4 B

}  // namespace xlaprof
