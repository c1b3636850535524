// Writes the rows of a PT_XLA_DEBUG log's facts.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "profiler/import/log/dialect.h"
#include "profiler/import/torch_xla/debug_blocks.h"

namespace xlaprof {

// Writes the facts of one log. The log must outlive this object.
class DebugWriter {
 public:
  DebugWriter(const DebugLog& log, LogReading& reading) : log_(log), reading_(reading) {}

  absl::Status WriteIssues();
  absl::Status Write(const DebugFact& fact, int run);

 private:
  struct Stack {
    OptInt id, site_id;
  };

  absl::StatusOr<Stack> StackOf(int index);
  absl::StatusOr<OptInt> GraphOf(int64_t process_id, const DebugFact& fact);

  const DebugLog& log_;
  LogReading& reading_;
  std::map<std::pair<int64_t, std::string>, int64_t> graphs_;  // by process and hash
  std::map<int, Stack> stacks_;
  int64_t next_profiler_line_ = 0;
};

}  // namespace xlaprof
