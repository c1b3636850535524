// A file descriptor that is closed with its object, and that is used only while it is still its
// own.
//
// Our code runs inside programs that close all descriptors, as daemons do, and that then get the
// same numbers for files of their own. So a number does not say which file it is. A descriptor
// therefore remembers the device and the inode of its file, and compares them before each use.
// Between the comparison and the use, another thread may still close the number and get it for its
// own file; the two system calls follow each other directly, so that this time is short.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <utility>

namespace xlaprof {

// Tells a file from all others that exist at the same time.
struct FileIdentity {
  bool exists = false;
  dev_t device = 0;
  ino_t inode = 0;

  bool operator==(const FileIdentity&) const = default;
};
// Returns an identity that does not exist if the descriptor, or the file at the path, does not
// exist.
FileIdentity IdentityOf(int fd);
FileIdentity IdentityOf(const std::filesystem::path& path);  // of what a symbolic link points to

// Removes the file at `path` if it is the file with this identity, and not a symbolic link to it.
// Returns whether it was removed.
bool RemoveFile(const std::filesystem::path& path, const FileIdentity& identity);

// Opens a file as open(2) does, but never under one of the numbers 0 to 2, even if the program has
// closed its standard streams, and never for programs that the process executes.
int OpenOwnFile(const char* path, int flags, mode_t mode = 0);

class Descriptor {
 public:
  // Takes what open(2) and its like return; a negative number is no file. A number below 3 is
  // replaced by a higher one.
  explicit Descriptor(int fd = -1);
  // Opens a file as OpenOwnFile does.
  static Descriptor Open(const std::filesystem::path& path, int flags, mode_t mode = 0);
  Descriptor(Descriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), identity_(std::exchange(other.identity_, {})) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(identity_, other.identity_);
    return *this;
  }
  ~Descriptor();

  // Returns the number, or -1 if there is no file, or if the number is no longer this file's.
  int get() const { return fd_ >= 0 && IdentityOf(fd_) == identity_ ? fd_ : -1; }
  // Returns whether a file was opened, whatever became of its number.
  bool is_open() const { return fd_ >= 0; }
  const FileIdentity& identity() const { return identity_; }

 private:
  int fd_;
  FileIdentity identity_;
};

// Opens a file to read it. Does not block if it is a pipe. `flags` are others of open(2).
Descriptor OpenToRead(const std::filesystem::path& path, int flags = 0);

}  // namespace xlaprof
