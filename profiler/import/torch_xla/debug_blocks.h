// The facts in a PT_XLA_DEBUG log, before they become rows.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/text/log_line.h"
#include "profiler/store/store.h"

namespace xlaprof {

struct DebugFact {
  enum Kind { kCompile, kExecution, kProfilerLine, kFallback };
  Kind kind = kCompile;
  int origin = 0;                // index of DebugLog::origins
  int64_t offset = 0, line = 0;  // place where it begins
  CutKind cause = CutKind::kUnknown;
  std::string hash, name;  // names of the graph; empty: not printed
  OptInt inputs, outputs;
  int stack = -1;               // index of DebugLog::stacks; -1: none, or torn
  std::array<OptInt, 5> sizes;  // kCompile: input, output, alias, temp, program bytes
  ProfilerRule rule = ProfilerRule::kUnknown;  // kProfilerLine
  std::string text;                            // kProfilerLine
  OptInt dur_ns;                               // kCompile: difference of the log's own times
  OptInt nodes;                                // nodes of the graph, in the C++ log
  std::vector<std::string> input_shapes;       // inputs of the program, in the C++ log
  OptInt samples, steps;                       // kProfilerLine
  std::string op;                              // kFallback; empty: not known
  int64_t count = 0;                           // kFallback
};

struct DebugLog {
  struct Issue {
    int64_t count = 0, offset = 0, line = 0;
  };
  std::vector<DebugFact> facts;                   // in the order in which they begin
  std::vector<LogOrigin> origins;                 // writers of the lines
  std::vector<std::vector<Store::Frame>> stacks;  // innermost frame first
  std::map<std::string, Issue> issues;            // by code
};

// Reads the lines of a log. `texts` must outlive this object.
class DebugLogParser {
 public:
  explicit DebugLogParser(const LogTexts& texts);
  ~DebugLogParser();
  void Take();  // takes the line that `texts` is at
  DebugLog Finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Returns the run that each fact of a log belongs to: 0, and one more at each restart of its
// process.
std::vector<int> SegmentsOf(const DebugLog& log);

}  // namespace xlaprof
