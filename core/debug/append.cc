#include "core/debug/append.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <set>

#include "base/descriptor.h"
#include "core/log.h"

namespace xlaprof::lazy {
namespace {

bool WriteAll(const Descriptor& file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file.get(), text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(size_t(written));
  }
  return file.is_open();
}

}  // namespace

bool AppendToFile(const char* variable, const std::string& path, std::string_view text) {
  static std::mutex& mutex = *new std::mutex;
  static auto& told = *new std::set<std::string, std::less<>>;
  std::lock_guard lock(mutex);
  const bool written = WriteAll(Descriptor::Open(path, O_WRONLY | O_CREAT | O_APPEND, 0666), text);
  if (!written && told.insert(path).second)
    Log(LogLevel::kError, "{}={}: cannot be written", variable, path);
  return written;
}

}  // namespace xlaprof::lazy
