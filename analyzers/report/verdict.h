// Says what a report without a warning means, and which checks were made.
#pragma once

#include <string>
#include <vector>

#include "analyzers/report/report.h"

namespace xlaprof {

// The meaning of a report without a warning.
struct Verdict {
  bool judged = false;  // the analyzers had something to analyse
  std::string text;
};
Verdict VerdictWithoutWarnings(const Report& report);

// The checks that these files allow, or that found something. `why` says in plain words why the
// others were not made.
struct Checks {
  std::vector<const Analyzer*> made, not_made;
  std::string why;
  // A sentence about what a check that was made could not see.
  struct Limit {
    const Analyzer* analyzer;
    std::string text;
  };
  std::vector<Limit> limits;
};
Checks ChecksOf(const Summary& summary, const Findings& findings);

}  // namespace xlaprof
