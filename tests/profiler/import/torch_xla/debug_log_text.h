// Writes PT_XLA_DEBUG logs as torch_xla prints them.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

inline const std::string kRuler(80, '='), kDashes(80, '-');

// Returns a block of `lines` between rulers, each line with `prefix` before it.
inline std::string Block(std::string_view kind, const std::vector<std::string>& lines,
                         std::string_view prefix = "") {
  std::string out = "\n";
  auto add = [&](std::string_view text) {
    out += fmt::format("{}{} Analysis: {}\n", prefix, kind, text);
  };
  add(kRuler);
  for (const std::string& line : lines) add(line);
  add(kDashes);
  add(kRuler);
  return out;
}

inline std::vector<std::string> BlockLines(std::string_view kind, std::string_view hash,
                                           int line = 5,
                                           std::string_view cause = "user torch_xla.sync") {
  return {fmt::format("{} Cause", kind),
          fmt::format("  {}", cause),
          "Graph Info: ",
          fmt::format("  Graph Hash: {}", hash),
          "  Number of Graph Inputs: 35",
          "  Number of Graph Outputs: 107",
          "Python Frame Triggered Execution: ",
          "  sync (/v/lib/python3.11/site-packages/torch_xla/torch_xla.py:87)",
          fmt::format("  step (/x/train.py:{})", line),
          "  <module> (/x/train.py:30)"};
}
inline std::string Compilation(std::string_view hash, std::string_view prefix = "") {
  return Block("Compilation", BlockLines("Compilation", hash), prefix) +
         "\nComputation hash: c74c3b91b855b2b123f833b0d5f86943\n";
}
inline std::string Execution(std::string_view hash, std::string_view prefix = "") {
  return Block("Execution", BlockLines("Execution", hash), prefix);
}
inline std::string Post(std::vector<std::string> sizes) {
  return Block("Post Compilation",
               {"Graph input size: " + sizes[0], "Graph output size: " + sizes[1],
                "Aliased Input size: " + sizes[2], "Intermediate tensor size: " + sizes[3],
                "Compiled program size: " + sizes[4]});
}

}  // namespace xlaprof
