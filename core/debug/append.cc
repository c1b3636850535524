#include "core/debug/append.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "core/log.h"

namespace xlaprof::lazy {

bool AppendToFile(const char* variable, const std::string& path, std::string_view text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string, std::less<>>;
  std::lock_guard lock(mutex);
  bool written = false;
  if (std::FILE* file = std::fopen(path.c_str(), "a")) {
    written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    written &= std::fclose(file) == 0;
  }
  if (!written && told.insert(path).second)
    Log(LogLevel::kError, "{}={}: cannot be written", variable, path);
  return written;
}

}  // namespace xlaprof::lazy
