// The stack of one thread of a running process, as a tool printed it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace xlaprof::stacks {

struct Frame {
  std::string function;  // "" if the tool does not know it
  std::string file;      // the source file, or the library of a function without one; "" if unknown
  int64_t line = 0;      // 0: not known
  bool operator==(const Frame&) const = default;
  auto operator<=>(const Frame&) const = default;
};

struct ThreadStack {
  int64_t pid = 0, tid = 0;
  std::string name;  // "" if it has none
  bool is_main = false;
  std::optional<bool> is_active;  // whether it ran at that moment; nothing if the tool does not say
  bool holds_gil = false;
  bool is_cut = false;        // the tool left out outer frames
  std::vector<Frame> frames;  // innermost first
};

}  // namespace xlaprof::stacks
