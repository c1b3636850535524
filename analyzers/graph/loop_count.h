// Finds out whether one sequence of ops is another one in which a part is repeated more often, as
// in an unrolled Python loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace xlaprof {

struct LoopCount {
  int body_begin = 0, body_length = 0;  // one repetition, in the longer sequence
  int64_t longer_turns = 0, shorter_turns = 0;
};

// Returns how often each sequence repeats the part. `ops` are the ops of the longer sequence, and
// `extra[i]` says that ops[i] is not in the shorter one. Returns nothing unless at least nine of
// ten extra ops lie in runs that repeat the ops directly before or after them.
std::optional<LoopCount> FindLoopCount(std::span<const uint64_t> ops, std::span<const bool> extra);

}  // namespace xlaprof
