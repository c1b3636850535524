// Makes several exchanges among devices in one.
#pragma once

#include "core/graph/program.h"

namespace xlaprof::lazy {

// Joins the small all_reduces of a device's program that do not need each other, such as those of
// gradients. At each exchange the devices wait for each other, which takes longer than copying a
// few small tensors.
Program WithJoinedExchanges(const Program& program);

}  // namespace xlaprof::lazy
