// Orders findings as a report shows them: each root with what follows from it. No time is counted twice
// in their total cost.
#pragma once

#include "analyzers/causes.h"
#include "analyzers/finding.h"

namespace xlaprof {

// Orders findings that have words: a root that needs fixing before one that is only mentioned, one
// that stops the program before one that costs time, then the most expensive first, each followed
// by its consequences. Sets fingerprints and the fields that describe the links. A root is at least
// as severe as its consequences.
Findings OrderByCause(Findings findings, const CauseLinks& links);

}  // namespace xlaprof
