// How to record what the files of a run do not show.
#pragma once

#include <string>
#include <string_view>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

// The command or call for each recording. "" stands for one that the run has already.
struct HowToRecord {
  std::string_view log, graphs, profile;
  bool profile_is_call = false;  // of a profiler in the program; otherwise, it is a command
};

// Returns how to record what the sources of the run hide. Under `xlaprof run`, only --full records more.
absl::StatusOr<HowToRecord> HowToRecordMore(const Run& run, Framework framework);

// Returns " To see the line, run ...", or "" if no other recording shows it.
std::string ToSee(const Unseen& unseen, const HowToRecord& how);

}  // namespace xlaprof
