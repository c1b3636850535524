// Writes the blocks of PT_XLA_DEBUG_LEVEL, line by line as torch_xla does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"

namespace xlaprof::lazy::debug {

struct BlockFacts {
  std::string_view cause;  // in the store's words
  std::string hash;        // the graph's hash
  size_t inputs = 0, outputs = 0;
  std::vector<std::string> frames;
};

// Return a block, which begins with an empty line. If there are more than `max_frames` frames, a
// line of dots replaces the rest.
std::string CompilationBlock(const BlockFacts& facts, int64_t max_frames);
std::string ExecutionBlock(const BlockFacts& facts, int64_t max_frames);
// Returns a line with the hash of the program, not of the graph. It comes between the blocks of a
// compilation.
std::string ComputationHashLine(std::string_view hash);
std::string PostCompilationBlock(const Executable::Sizes& sizes);

}  // namespace xlaprof::lazy::debug
