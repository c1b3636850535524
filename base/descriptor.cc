#include "base/descriptor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace xlaprof {
namespace {

constexpr int kFirstNumber = 3;  // above the standard streams

FileIdentity Of(const struct stat& status) { return {true, status.st_dev, status.st_ino}; }

// Takes the numbers of standard streams that are closed, while it lives. A descriptor with O_PATH
// can neither be read nor written, so that the program's own use of the number fails as before.
class ClosedStreams {
 public:
  ClosedStreams() {
    for (int number = 0; number < kFirstNumber; ++number) {
      if (fcntl(number, F_GETFD) >= 0) continue;
      const int fd = open("/", O_PATH | O_CLOEXEC);
      if (fd >= kFirstNumber) close(fd);  // another thread has taken the number meanwhile
      if (fd >= 0 && fd < kFirstNumber) taken_[fd] = IdentityOf(fd);
    }
  }
  ~ClosedStreams() {
    for (int number = 0; number < kFirstNumber; ++number)
      if (taken_[number].exists && IdentityOf(number) == taken_[number]) close(number);
  }
  ClosedStreams(const ClosedStreams&) = delete;

 private:
  FileIdentity taken_[kFirstNumber];
};

// Returns a descriptor of the same file above the standard streams, in place of `fd`.
int MovedUp(int fd) {
  if (fd < 0 || fd >= kFirstNumber) return fd;
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, kFirstNumber);
  close(fd);
  return higher;
}

}  // namespace

FileIdentity IdentityOf(int fd) {
  struct stat status;
  return fd >= 0 && fstat(fd, &status) == 0 ? Of(status) : FileIdentity();
}

FileIdentity IdentityOf(const std::filesystem::path& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 ? Of(status) : FileIdentity();
}

bool RemoveFile(const std::filesystem::path& path, const FileIdentity& identity) {
  struct stat status;
  return identity.exists && lstat(path.c_str(), &status) == 0 && Of(status) == identity &&
         unlink(path.c_str()) == 0;
}

int OpenOwnFile(const char* path, int flags, mode_t mode) {
  const ClosedStreams closed;
  return MovedUp(open(path, flags | O_CLOEXEC, mode));
}

Descriptor::Descriptor(int fd) : fd_(MovedUp(fd)), identity_(IdentityOf(fd_)) {}

Descriptor Descriptor::Open(const std::filesystem::path& path, int flags, mode_t mode) {
  return Descriptor(OpenOwnFile(path.c_str(), flags, mode));
}

Descriptor::~Descriptor() {
  if (const int fd = get(); fd >= 0) close(fd);
}

Descriptor OpenToRead(const std::filesystem::path& path, int flags) {
  return Descriptor::Open(path, O_RDONLY | O_NONBLOCK | flags);
}

}  // namespace xlaprof
