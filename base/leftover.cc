#include "base/leftover.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "base/sqlite_files.h"

namespace xlaprof {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
constexpr int kMostLeftovers = 16;
constexpr int kMostDepth = 8;  // levels of nested folders
constexpr size_t kLongestSuffix = 16;

// A registered path. A signal handler reads it, and a handler may not allocate memory.
struct Slot {
  std::atomic<bool> is_taken{false}, is_noted{false};
  char path[PATH_MAX + kLongestSuffix];
};
Slot slots[kMostLeftovers];

void RemoveTree(int parent, const char* name, int depth);

// A directory entry as the kernel returns it. A handler cannot use readdir, which allocates memory.
struct Entry {
  uint64_t inode;
  int64_t offset;
  unsigned short bytes;
  unsigned char type;
  char name[];
};

void RemoveEntries(int folder, int depth) {
  alignas(Entry) char buffer[4096];
  long got;
  while ((got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      if (std::strcmp(entry->name, ".") != 0 && std::strcmp(entry->name, "..") != 0)
        RemoveTree(folder, entry->name, depth - 1);
      at += entry->bytes;
    }
  }
}

void RemoveTree(int parent, const char* name, int depth) {
  if (unlinkat(parent, name, 0) == 0 || depth == 0) return;
  const int folder = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  RemoveEntries(folder, depth);
  close(folder);
  unlinkat(parent, name, AT_REMOVEDIR);
}

void OnSignal(int signal) {
  RemoveLeftovers();
  std::signal(signal, SIG_DFL);
  raise(signal);
}

}  // namespace

Leftover::Leftover(const std::filesystem::path& path) {
  const std::string& text = path.native();
  if (text.size() >= PATH_MAX) return;
  for (int i = 0; i < kMostLeftovers; ++i) {
    if (slots[i].is_taken.exchange(true)) continue;
    std::copy_n(text.c_str(), text.size() + 1, slots[i].path);
    slots[i].is_noted = true;
    slot_ = i;
    return;
  }
}

void Leftover::Forget() {
  if (slot_ < 0) return;
  Slot& slot = slots[std::exchange(slot_, -1)];
  slot.is_noted = false;
  slot.is_taken = false;
}

void RemoveLeftovers() {
  for (Slot& slot : slots) {
    if (!slot.is_noted.exchange(false)) continue;
    RemoveTree(AT_FDCWD, slot.path, kMostDepth);
    char* end = slot.path + std::strlen(slot.path);
    for (const char* suffix : kSqliteSuffixes) {
      std::strcpy(end, suffix);
      unlink(slot.path);
    }
  }
}

void RemoveLeftoversAtSignals() {
  struct sigaction action {};
  action.sa_handler = OnSignal;
  for (int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (int signal : kSignals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

}  // namespace xlaprof
