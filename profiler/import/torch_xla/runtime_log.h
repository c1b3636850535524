// Parses the lines of torch_xla's own C++ log (TF_CPP_VMODULE) about compilations and executions.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/store/rows.h"

namespace xlaprof {

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

}  // namespace xlaprof
