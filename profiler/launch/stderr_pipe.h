// Takes a framework's messages out of standard error. TorchTPU writes when and how long it compiles
// only there. A process that imports it writes its standard error to this named pipe instead
// (profiler/launch/hook/xlaprof_hook/recipes.py).
#pragma once

#include <cstdint>
#include <filesystem>
#include <utility>

#include "base/descriptor.h"
#include "base/status.h"

namespace xlaprof {

// A process of its own reads the pipe, because some of those who write to it may outlive xlaprof,
// or xlaprof may be killed. It writes the beginning to `folder`/stderr.txt, and to standard error
// what the user would see there without xlaprof. It ends when nobody has the pipe open any more. No
// signal but SIGKILL ends it before.
class StderrPipe {
 public:
  // The file gets so much, and then a line that says so. Standard error gets everything.
  static constexpr int64_t kMostBytes = int64_t(256) << 20;

  // Makes the pipe `folder`/stderr.pipe and starts its reader. `folder` is absolute. The object
  // removes the pipe, and its reader does so if this process is killed.
  static absl::StatusOr<StderrPipe> Make(const std::filesystem::path& folder,
                                         int64_t most_bytes = kMostBytes);
  ~StderrPipe();
  StderrPipe(StderrPipe&& other) noexcept
      : path_(std::exchange(other.path_, {})),
        end_(std::move(other.end_)),
        reader_(std::move(other.reader_)) {}

  // Waits until all is passed on that was written before, and returns how much the file lacks.
  int64_t Await();

 private:
  StderrPipe(std::filesystem::path path, Descriptor end, Descriptor reader)
      : path_(std::move(path)), end_(std::move(end)), reader_(std::move(reader)) {}

  std::filesystem::path path_;
  Descriptor end_;     // keeps the pipe from ending before the next process opens it
  Descriptor reader_;  // a socket to the reader
};

}  // namespace xlaprof
