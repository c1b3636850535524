// Tells from torch.compile's own words why it cannot trace a line.
#pragma once

#include <string_view>

#include "profiler/store/vocabulary.h"

namespace xlaprof {

// Returns kValueAccess if the line reads a tensor's value, kDataDependentBranch if it branches on one, and
// kUntraceable for everything else.
ReasonType UntraceableType(std::string_view message);

}  // namespace xlaprof
