// The processes that wrote one text. All dialects of the text share them.
#pragma once

#include <map>
#include <tuple>

#include "profiler/import/importer.h"
#include "profiler/import/text/log_line.h"

namespace xlaprof {

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
