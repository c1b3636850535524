// Tells whether the last line of a log was cut inside the prefix that a logger puts before each of its
// lines: a level, a time, a process, a place in the code.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xlaprof {

class LinePrefixes {
 public:
  // Notes the prefix of a whole line, if it holds a time of the day. Prefixes that differ only in their
  // numbers are one.
  void Note(std::string_view prefix);
  // Returns what follows the prefix of `line`, which is "" if the line ends inside a prefix or right
  // after it. Returns nothing if the line does not begin as a noted prefix does.
  std::optional<std::string_view> RestAfter(std::string_view line) const;

 private:
  std::vector<std::string> noted_;  // each number is one 0
};

}  // namespace xlaprof
