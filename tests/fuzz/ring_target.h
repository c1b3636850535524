// Rings that killed processes left, damaged: what `xlaprof recover` opens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// `bytes` are the parts of a ring file that are not empty, one behind the other.
std::string RunRing(std::string_view bytes, bool reports);
std::vector<std::string> RingSeeds();

}  // namespace xlaprof
