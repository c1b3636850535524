// Fuzzes damaged rings of killed processes, which `xlaprof recover` opens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

// Runs on `bytes`, which are the non-empty parts of a ring file, one after the other.
std::string RunRing(std::string_view bytes, bool reports);
std::vector<std::string> RingSeeds();

}  // namespace xlaprof
