// The blocks of PT_XLA_DEBUG_LEVEL, line by line as torch_xla writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/backend/backend.h"

namespace xlaprof::lazy::debug {

struct BlockFacts {
  std::string_view cause;  // of the store's words
  std::string hash;        // of the graph
  size_t inputs = 0, outputs = 0;
  std::vector<std::string> frames;
};

// Each begins with an empty line. More than `max_frames` frames end with a line of dots.
std::string CompilationBlock(const BlockFacts& facts, int64_t max_frames);
std::string ExecutionBlock(const BlockFacts& facts, int64_t max_frames);
// Of the program, not of the graph: stands between the blocks of a compilation.
std::string ComputationHashLine(std::string_view hash);
std::string PostCompilationBlock(const Executable::Sizes& sizes);

}  // namespace xlaprof::lazy::debug
