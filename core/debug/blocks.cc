#include "core/debug/blocks.h"

#include <fmt/format.h>

#include "core/debug/frames.h"

namespace xlaprof::lazy::debug {
namespace {

// Formats lines with a prefix, between rulers.
class Block {
 public:
  explicit Block(std::string_view name) : prefix_(fmt::format("{} Analysis: ", name)) {
    Line("{:=<80}", "");
  }
  template <class... Args>
  void Line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += prefix_ + fmt::format(format, std::forward<Args>(args)...) + '\n';
  }
  std::string End() && {
    Line("{:-<80}", "");
    Line("{:=<80}", "");
    return std::move(text_);
  }

 private:
  const std::string prefix_;
  std::string text_ = "\n";
};

std::string CutBlock(std::string_view name, const BlockFacts& facts, int64_t max_frames) {
  Block block(name);
  block.Line("{} Cause", name);
  block.Line("  {}", CauseText(facts.cause));
  block.Line("Graph Info: ");
  block.Line("  Graph Hash: {}", facts.hash);
  block.Line("  Number of Graph Inputs: {}", facts.inputs);
  block.Line("  Number of Graph Outputs: {}", facts.outputs);
  block.Line("Python Frame Triggered Execution: ");
  int64_t printed = 0;
  for (const std::string& frame : facts.frames) {
    if (printed++ >= max_frames) {
      block.Line("  ..........");
      break;
    }
    block.Line("  {}", frame);
  }
  return std::move(block).End();
}

}  // namespace

std::string CompilationBlock(const BlockFacts& facts, int64_t max_frames) {
  return CutBlock("Compilation", facts, max_frames);
}

std::string ExecutionBlock(const BlockFacts& facts, int64_t max_frames) {
  return CutBlock("Execution", facts, max_frames);
}

std::string ComputationHashLine(std::string_view hash) {
  return fmt::format("\nComputation hash: {}\n", hash);
}

std::string PostCompilationBlock(const Executable::Sizes& sizes) {
  Block block("Post Compilation");
  const auto size = [&](const char* of, int64_t bytes) {
    block.Line("{} size: {:.6f} GB", of, double(bytes) / 0x1p30);
  };
  size("Graph input", sizes.argument_bytes);
  size("Graph output", sizes.result_bytes);
  size("Aliased Input", sizes.alias_bytes);
  size("Intermediate tensor", sizes.temporary_bytes);
  size("Compiled program", sizes.program_bytes);
  return std::move(block).End();
}

}  // namespace xlaprof::lazy::debug
