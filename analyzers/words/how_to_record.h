// How to record what the files of a run do not show: one command or call for each framework.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/finding.h"

namespace xlaprof {

struct HowToRecord {
  // The command that shows what compiles and what is read, at which line and why.
  std::string_view log;
  // The command that shows the graphs, too.
  std::string_view graphs;
  // The call that times compilations, executions and transfers.
  std::string_view profile;
};

const HowToRecord& HowToRecordWith(Framework framework);

// Returns "Run ... and report on what it writes together with these files.", with the command for the log.
std::string RunLogAndReport(Framework framework);

}  // namespace xlaprof
