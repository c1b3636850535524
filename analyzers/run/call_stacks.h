// The call stacks that the sources of a run print with compiles, executions and fallbacks.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <map>
#include <string_view>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"

namespace xlaprof {

struct CallStacks {
  absl::flat_hash_map<int64_t, std::vector<CallFrame>> by_id;           // frames, innermost first
  std::map<std::string, absl::flat_hash_map<int64_t, int64_t>> of_row;  // table -> row -> stack

  // Returns the stack of more than half of the rows that the finding cites, if it contains the
  // finding's line, or if that is a line of its innermost function. Returns an empty stack if there is none.
  CallStack Of(const Finding& finding) const;
  // Returns the place in a library that the user's line called, or an empty place.
  SourcePlace LibraryOf(OptInt stack_id) const;

  static absl::StatusOr<CallStacks> Of(const Run& run);
};

// Returns the innermost frame of a library that the user's line called, or null if that line did the
// work itself. Frames of torch_xla, whose task is to cut the graph, and of wrappers do not count.
const CallFrame* LibraryFrameOf(const std::vector<CallFrame>& frames);

// Returns the file's path within its package and the line, such as
// transformers/generation/utils.py:2597.
std::string TextInPackage(const SourcePlace& place);

}  // namespace xlaprof
