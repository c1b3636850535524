// A file descriptor that is closed with its object.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

namespace xlaprof {

class Descriptor {
 public:
  // Takes what open(2) and its like return; a negative number is no file.
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Opens a file to read it. Does not block if it is a pipe. `flags` are others of open(2).
inline Descriptor OpenToRead(const std::filesystem::path& path, int flags = 0) {
  return Descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
}

}  // namespace xlaprof
