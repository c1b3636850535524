// Turns what torch_xla's C++ log says of a run into facts of a debug log.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "profiler/import/torch_xla/debug_blocks.h"
#include "profiler/import/torch_xla/runtime_log.h"

namespace xlaprof {

// Takes the lines of one log in order. Each device counts as a process; its ordinal is the rank of
// the process that drives it.
class RuntimeLogReader {
 public:
  void Take(const RuntimeLogLine& line, int64_t offset, int64_t line_number);
  // Adds what was read to `log`. If blocks of PT_XLA_DEBUG describe the same compilations and
  // executions, it adds only what they lack.
  void Finish(DebugLog& log);

 private:
  struct Begun {
    size_t fact = 0;
    OptInt at_ns;
  };
  void Begin(const RuntimeLogLine& line, int64_t offset, int64_t line_number);
  void End(const RuntimeLogLine& line, int64_t offset, int64_t line_number);

  std::vector<DebugFact> facts_;  // origin is an index of devices_
  std::vector<std::string> devices_;
  // Facts without an end, by device and whether they compile.
  std::map<std::pair<int, bool>, std::deque<Begun>> begun_;
  std::map<OptInt, CutKind> cause_;          // by thread: cause of the graph to come
  std::map<std::string, CutKind> cause_of_;  // by graph: cause of its next compilation or
                                             // execution
  size_t last_compile_ = size_t(-1);         // the one whose program is described next
  bool hexadecimal_ = false;
};

}  // namespace xlaprof
