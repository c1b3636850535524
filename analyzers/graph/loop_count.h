// Finds out whether one sequence of ops is another one in which a part is repeated more often, as
// in an unrolled Python loop.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace xlaprof {

struct LoopCount {
  int body_begin = 0, body_length = 0;  // one repetition, in the longer sequence
  int64_t longer_turns = 0, shorter_turns = 0;
};

// Returns how often each sequence repeats the part. `ops` are the ops of the longer sequence, and
// `extra[i]` says that ops[i] is not in the shorter one. Returns nothing unless at least nine of
// ten extra ops lie in runs that repeat the ops directly before or after them.
std::optional<LoopCount> FindLoopCount(std::span<const uint64_t> ops, std::span<const bool> extra);

// How often each of two graphs contains a part that is repeated.
struct RepeatCount {
  int64_t longer_turns = 0, shorter_turns = 0;
  int64_t body_nodes = 0;  // nodes of one repetition
};

// Finds a repeated part by numbers alone, for loops whose turns do not lie side by side in the
// graph, such as the micro-batches of a step with their gradients. `longer` and `shorter` hold what
// identifies the op and shape of each node. Returns nothing unless most extra nodes are of kinds
// that the shorter graph has in exactly the same proportion.
std::optional<RepeatCount> FindRepeatCount(std::span<const uint64_t> longer,
                                           std::span<const uint64_t> shorter);

// Returns "once" or "3 times".
std::string TurnsText(int64_t turns);

}  // namespace xlaprof
