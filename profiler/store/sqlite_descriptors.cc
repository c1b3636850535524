// Makes SQLite use a descriptor only while it is still that of the file that SQLite opened.
//
// SQLite keeps numbers of descriptors and trusts them. A recorded program may close all of its
// descriptors and open files of its own, which then get these numbers. So SQLite calls the
// functions below in place of the system's. They remember the file of each number, and fail with
// EBADF once the number is another file's, or nobody's; SQLite then reports an I/O error. Such a
// number is neither locked, which would replace the program's own locks, nor closed.
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>

#include "base/descriptor.h"

namespace xlaprof {
namespace {

// The file that SQLite opened under a number. Any thread may read it while another one opens or
// closes files, and a process may fork at any time, so there is no lock.
struct Opened {
  std::atomic<bool> is_open{false};
  std::atomic<dev_t> device{0};
  std::atomic<ino_t> inode{0};
  // A mapping of the file, which is never accessed. While it exists, the file system gives the
  // file's inode to no other file, even if the program closes the descriptor and somebody removes
  // the file.
  std::atomic<void*> pin{nullptr};
};
constinit std::array<Opened, 1 << 16> numbers;  // higher numbers are not used
constinit std::atomic<int> highest{-1};         // that was used

bool IsNumber(int fd) { return fd >= 0 && size_t(fd) < numbers.size(); }

bool IsOurs(int fd) {
  if (!IsNumber(fd) || !numbers[size_t(fd)].is_open) return false;
  const Opened& opened = numbers[size_t(fd)];
  return IdentityOf(fd) == FileIdentity{true, opened.device, opened.inode};
}

// Returns -1, as system calls do, if the descriptor is not ours.
template <class Call>
auto IfOurs(int fd, Call call) -> decltype(call()) {
  if (IsOurs(fd)) return call();
  errno = EBADF;
  return -1;
}

int Open(const char* path, int flags, int mode) {
  int fd = OpenOwnFile(path, flags, mode_t(mode));
  // SQLite has not closed this number, but the program has. If it were used again, SQLite would
  // take this file for the one before.
  while (IsNumber(fd) && numbers[size_t(fd)].is_open) {
    const int higher = fcntl(fd, F_DUPFD_CLOEXEC, fd + 1);
    close(fd);
    fd = higher;
  }
  if (fd < 0) return fd;
  if (!IsNumber(fd)) {
    close(fd);
    errno = EMFILE;
    return -1;
  }
  Opened& opened = numbers[size_t(fd)];
  const FileIdentity identity = IdentityOf(fd);
  opened.device = identity.device, opened.inode = identity.inode;
  void* const pin = mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE, fd, 0);
  opened.pin = pin == MAP_FAILED ? nullptr : pin;
  opened.is_open = true;
  int before = highest;
  while (before < fd && !highest.compare_exchange_weak(before, fd)) {
  }
  return fd;
}

int Close(int fd) {
  if (!IsNumber(fd)) return 0;
  const bool is_ours = IsOurs(fd);
  Opened& opened = numbers[size_t(fd)];
  if (void* pin = opened.pin.exchange(nullptr); pin != nullptr) munmap(pin, 1);
  opened.is_open = false;
  return is_ours ? close(fd) : 0;
}

ssize_t Read(int fd, void* to, size_t bytes) {
  return IfOurs(fd, [&] { return read(fd, to, bytes); });
}
ssize_t Pread(int fd, void* to, size_t bytes, off_t at) {
  return IfOurs(fd, [&] { return pread(fd, to, bytes, at); });
}
ssize_t Write(int fd, const void* from, size_t bytes) {
  return IfOurs(fd, [&] { return write(fd, from, bytes); });
}
ssize_t Pwrite(int fd, const void* from, size_t bytes, off_t at) {
  return IfOurs(fd, [&] { return pwrite(fd, from, bytes, at); });
}
int Ftruncate(int fd, off_t bytes) {
  return IfOurs(fd, [&] { return ftruncate(fd, bytes); });
}
int Fstat(int fd, struct stat* status) {
  return IfOurs(fd, [&] { return fstat(fd, status); });
}
int Fchmod(int fd, mode_t mode) {
  return IfOurs(fd, [&] { return fchmod(fd, mode); });
}
int Fchown(int fd, uid_t user, gid_t group) {
  return IfOurs(fd, [&] { return fchown(fd, user, group); });
}
// SQLite passes a pointer or an int, neither of which is longer than a pointer.
int Fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return IfOurs(fd, [&] { return fcntl(fd, command, argument); });
}
void* Mmap(void* at, size_t bytes, int protection, int flags, int fd, off_t from) {
  if (IsOurs(fd)) return mmap(at, bytes, protection, flags, fd, from);
  errno = EBADF;
  return MAP_FAILED;
}

template <class Function>
int Replace(sqlite3_vfs* system, const char* name, Function* function) {
  return system->xSetSystemCall(system, name, reinterpret_cast<sqlite3_syscall_ptr>(function));
}

}  // namespace
}  // namespace xlaprof

// SQLite calls this once, before it opens a file.
extern "C" int xlaprof_use_own_descriptors(const char*) {
  using namespace xlaprof;
  sqlite3_vfs* const system = sqlite3_vfs_find("unix");
  for (const int result : {Replace(system, "open", Open), Replace(system, "close", Close),
                           Replace(system, "read", Read), Replace(system, "pread", Pread),
                           Replace(system, "write", Write), Replace(system, "pwrite", Pwrite),
                           Replace(system, "ftruncate", Ftruncate), Replace(system, "fstat", Fstat),
                           Replace(system, "fchmod", Fchmod), Replace(system, "fchown", Fchown),
                           Replace(system, "fcntl", Fcntl), Replace(system, "mmap", Mmap)})
    if (result != SQLITE_OK) return result;
  return SQLITE_OK;
}

// A forked child has its parent's numbers, but never uses its parent's connections.
extern "C" void xlaprof_forget_descriptors() {
  for (int fd = 0; fd <= xlaprof::highest; ++fd) xlaprof::numbers[size_t(fd)].is_open = false;
}
