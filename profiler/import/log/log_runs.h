// The runs in one text, and the processes that wrote it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

// The runs in one text. Programs append to their logs across runs, and some dialects show where a
// run begins.
class LogRuns {
 public:
  // Notes that another run begins at `line`, which is not above the line of the call before.
  void Begin(int64_t line) { begins_.push_back(line); }
  // Returns the run that a line belongs to. The first run has number 0.
  int At(int64_t line) const {
    return int(std::ranges::upper_bound(begins_, line) - begins_.begin());
  }
  int last() const { return int(begins_.size()); }

  // Notes that a dialect has found all runs of the text, so that no other dialect looks for them.
  void SetKnown() { are_known_ = true; }
  bool are_known() const { return are_known_; }

 private:
  std::vector<int64_t> begins_;  // first lines of the runs after the first, ascending
  bool are_known_ = false;
};

// The processes that wrote one text. All dialects of the text share them.
class LogProcesses {
 public:
  struct Process {
    int64_t id = 0;
    int64_t next_ordinal = 0;  // of its next compile or execution
  };

  explicit LogProcesses(ImportContext& context) : context_(context) {}

  // Returns the process of a run that wrote lines of this origin, and adds it on first use.
  // Several processes of one run may have the same origin; `nth` numbers these from 0. The pointer
  // stays valid.
  absl::StatusOr<Process*> Of(int run, const LogOrigin& origin, int nth = 0);
  // Does the same for lines that often lack the prefix of the program's other lines. If the origin
  // is not known, it returns the first process of the run.
  absl::StatusOr<Process*> Nearest(int run, const LogOrigin& origin);

 private:
  ImportContext& context_;
  std::map<std::tuple<int, LogOrigin, int>, Process> processes_;
  std::map<int, Process*> first_;  // by run
};

}  // namespace xlaprof
