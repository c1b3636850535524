// Reads torch_xla's own C++ log (TF_CPP_VMODULE).
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/torch_xla/debug_blocks.h"
#include "profiler/store/rows.h"

namespace xlaprof {

// Parses the lines of torch_xla's own C++ log (TF_CPP_VMODULE) about compilations and executions.
struct RuntimeLogLine {
  enum Kind {
    kCompile,       // Compiling IR graph hash H on device D ... / done!
    kExecute,       // Executing IR graph hash H on device D ... / done!
    kReadValue,     // Trying to get the value of 1 tensor(s): the next graph is cut by a read
    kLiveTensors,   // 9 live tensors: devices=(): the next graph is cut by a step mark
    kSyncValue,     // Trying to sync the value of 9 tensor(s): for the reason given before, or on
                    // demand
    kGraphIsNext,   // Parameter sequence graph hash H: the graph that the marks above are about
    kProgramShape,  // Compiled program shape (p0: f32[16,32]) -> (pred[32])
    kGraphSize,     // TensorsGraphSize=29
    kMemoryUsage    // memory usage detail = CompiledMemoryStats(…)
  };
  Kind kind = kCompile;
  bool done = false;                // kCompile, kExecute: true at the end, false at the beginning
  bool dynamo = false;              // kExecute
  std::string hash, device;         // as printed, hash in lower case; "TPU:0", the first of several
  OptInt at_ns;                     // kCompile, kExecute: time of the log's clock, if the line has one
  OptInt thread;                    // with TF_CPP_LOG_THREAD_ID
  std::vector<std::string> inputs;  // kProgramShape
  OptInt count;                     // kProgramShape: results; kGraphSize: nodes
  std::array<OptInt, 5> sizes;      // kMemoryUsage: input, output, alias, temp, program bytes
};

// Returns nothing for any other line. Times count from 1970, or from the beginning of an unknown
// year, so only differences are useful.
std::optional<RuntimeLogLine> ParseRuntimeLogLine(std::string_view line);

// Returns the hash of a graph as torch_xla prints it today. Until March 2020 it was a number of 64
// bits, printed in decimal; a log that prints any hash with a letter prints all in hexadecimal.
std::string HexOfDecimal(const std::string& hash);

// Turns what the log says of a run into facts of a debug log. Takes the lines of one log in order. Each device counts as a process; its ordinal is the rank of
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
