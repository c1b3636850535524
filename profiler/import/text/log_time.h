// Reads times that programs write into their logs.
#pragma once

#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

// Returns the time at the front of `text`, such as "2022-02-09 23:33:25.457877", in Unix ns. A T may
// stand for the space, and the fraction may be missing or have any number of digits. The time zone
// is not known and is taken for UTC. Returns nothing for any other text, and for years that are not
// between 1970 and 2200.
OptInt LogTime(std::string_view text);

}  // namespace xlaprof
