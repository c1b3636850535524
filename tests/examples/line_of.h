// Finds lines of the examples.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

namespace xlaprof {

// Returns the number of the first line that has `text` in a file of examples/.
inline int64_t LineOf(const std::string& name, const std::string& text) {
  std::ifstream file(XLAPROF_SOURCE_DIR "/examples/" + name);
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (line.find(text) != std::string::npos) return number;
  }
  ADD_FAILURE() << "no line has " << text;
  return 0;
}

}  // namespace xlaprof
