// Reads whole files for tests.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace xlaprof {

// Returns the bytes of a file, or "" if it cannot be read. The standard library copies them in
// blocks: with iterators, code that sanitizers check would copy one byte at a time.
inline std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream bytes;
  bytes << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(bytes).str();
}

}  // namespace xlaprof
