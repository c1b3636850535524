// The programs that torch.compile made, as far as its messages about recompilations show them.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/xla_shape.h"
#include "profiler/import/log/dynamo_recompiles.h"
#include "profiler/import/torch/guard_failure.h"

namespace xlaprof {

// Holds, by name, the values with which the guards of a program compare numbers and texts, and the
// shapes that they need of tensors. An empty value, or a shape of no tensor, was printed in several ways.
struct GuardValues {
  std::map<std::string, std::string> numbers;
  std::map<std::string, XlaShape> shapes;
};

// One compilation of a function.
struct DynamoProgram {
  DynamoId id;
  // The message about it; for a program that only a later message names, that message.
  size_t message = 0;
  bool is_named_only = false;
  GuardFailure reason;  // why it was compiled; without a text if it is only named
  int nth = 0;          // which process of this origin it belongs to, from 0
};

struct DynamoPrograms {
  std::vector<DynamoProgram> programs;  // in order of their messages
  // Messages that tell of recompilations without showing all programs, and the most telling failure of
  // each; null if none is printed. A log that begins late has such messages, and that of an old version.
  std::vector<std::pair<size_t, const GuardFailure*>> others;
};

// Finds the programs of `messages`, which must outlive the result. `values` are by origin and program.
// A recompilation that did not make a program, because the function reached its limit or could not be
// compiled, is left out; `failed` lists the messages of the latter.
DynamoPrograms ProgramsOf(
    const std::vector<DynamoRecompile>& messages, const std::vector<size_t>& failed,
    const std::map<std::pair<LogOrigin, std::pair<int64_t, int64_t>>, GuardValues>& values);

}  // namespace xlaprof
