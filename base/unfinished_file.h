// A file beside the output that becomes the output when it is complete, and is removed otherwise.
//
// It is named .NAME.HASH.N.part for an output NAME. HASH differs between all processes, machines
// and containers that share the folder. The process locks the file while it writes to it, so that
// the next writer of NAME can tell what a killed one left, and removes it.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include "base/descriptor.h"
#include "base/leftover.h"
#include "base/status.h"

namespace xlaprof {

class UnfinishedFile {
 public:
  // Creates the file, which is empty. Nobody may read it who may not read an existing output.
  // Removes the files that killed writers of this output left, and what SQLite left beside them. It
  // recognizes them by their names and by the lock, which it must get. On a network file system,
  // where the lock of another machine may not be seen, it removes none. Returns InvalidArgument if
  // the output is a directory, a pipe or a device, which would otherwise be replaced.
  static absl::StatusOr<UnfinishedFile> Create(std::filesystem::path output);
  UnfinishedFile(UnfinishedFile&& other) noexcept
      : output_(std::move(other.output_)),
        path_(std::exchange(other.path_, {})),
        mode_(other.mode_),
        locked_(std::move(other.locked_)),
        leftover_(std::move(other.leftover_)) {}
  // Removes the file and what SQLite may have left beside it.
  ~UnfinishedFile();

  // The file to write to until Finish(). A writer may empty it, and may not replace it, because the
  // lock is on this file. SQLite's own locks are independent of it.
  const std::filesystem::path& path() const { return path_; }
  // Renames the file to the output. A regular file of that name is replaced, and gives the new one
  // its owner and mode; a link is replaced and not followed. SQLite must have closed the file.
  absl::Status Finish();
  // Does the same, but returns AlreadyExists if the output exists. If several processes write the
  // same output, one of them succeeds.
  absl::Status FinishNew();

 private:
  UnfinishedFile(std::filesystem::path output, std::filesystem::path path)
      : output_(std::move(output)), path_(std::move(path)), leftover_(path_) {}
  absl::Status Begin();
  absl::StatusOr<bool> LookAtOutput(struct stat& info) const;
  void TakeModeOf(const struct stat& replaced) const;
  absl::Status Failed(int error) const;

  std::filesystem::path output_, path_;  // path_ is empty once it was moved or finished
  mode_t mode_ = 0;                      // of a new output
  Descriptor locked_;
  Leftover leftover_;
};

}  // namespace xlaprof
