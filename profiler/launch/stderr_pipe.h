// Takes a framework's messages out of standard error. TorchTPU writes when and how long it compiles
// only there. A process that imports it writes its standard error to this named pipe instead
// (profiler/launch/hook/xlaprof_hook/recipes.py).
#pragma once

#include <filesystem>
#include <string>

#include "base/descriptor.h"
#include "base/status.h"

namespace xlaprof {

class StderrPipe {
 public:
  // Makes the pipe `folder`/stderr.pipe. The object removes it.
  static absl::StatusOr<StderrPipe> Make(const std::filesystem::path& folder);
  ~StderrPipe();
  StderrPipe(StderrPipe&& other) noexcept;

  int fd() const { return fd_.get(); }
  // Reads what waits in the pipe. Appends it to `folder`/stderr.txt, and writes to standard error
  // what the user would see there without xlaprof.
  void PassOn();

 private:
  StderrPipe(std::filesystem::path folder, Descriptor fd)
      : folder_(std::move(folder)), fd_(std::move(fd)) {}
  void Show();

  std::filesystem::path folder_;
  Descriptor fd_, file_;
  std::string line_;  // what was read of the last line, if it may be a message that is not shown
};

}  // namespace xlaprof
