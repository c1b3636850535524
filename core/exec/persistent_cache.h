// Keeps executables in a directory for the next process, as torch_xla's persistent cache does.
#pragma once

#include <filesystem>
#include <memory>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

// There is one file per executable, named by the hash of its graph and the backend. Several
// processes may share the directory: a file is written under another name and appears whole. A file
// that cannot be used (damaged, another version) is logged as a warning and made anew; nothing here
// is an error. Use it only while holding a GraphLock.
class PersistentCache {
 public:
  // If `read_only`, nothing is written. Otherwise the directory is created when it is needed.
  PersistentCache(std::filesystem::path folder, bool read_only)
      : folder_(std::move(folder)), read_only_(read_only) {}

  // Returns this program's executable, or null at a miss. Counts hits and misses.
  std::unique_ptr<Executable> Load(Backend& backend, const Program& program);
  // Writes the executable if the backend can serialize it. Overwrites an existing file.
  void Save(Backend& backend, const Executable& executable, const Program& program);

 private:
  std::filesystem::path PathOf(const Backend& backend, const Program& program) const;

  const std::filesystem::path folder_;
  const bool read_only_;
  bool failed_ = false;  // writing failed, and that was reported
};

}  // namespace xlaprof::lazy
