// Executables in a folder, for the next process: torch_xla's persistent cache.
#pragma once

#include <filesystem>
#include <memory>

#include "core/backend/backend.h"

namespace xlaprof::lazy {

// One file an executable, named by the hash of its graph and the backend. Several processes may
// share the folder: a file is written under another name and appears whole. What is there and
// cannot be used (damaged, of another version) is told on stderr and made anew; nothing here is an
// error. Used under Device::cutting().
class PersistentCache {
 public:
  // `read_only`: nothing is written. Else the folder is made when it is needed.
  PersistentCache(std::filesystem::path folder, bool read_only)
      : folder_(std::move(folder)), read_only_(read_only) {}

  // The executable of this program; null: a miss, which is counted, as hits are.
  std::unique_ptr<Executable> Load(Backend& backend, const Program& program);
  // Keeps it, where the backend can turn it into bytes. Overwrites what is there.
  void Save(Backend& backend, const Executable& executable, const Program& program);

 private:
  std::filesystem::path PathOf(const Backend& backend, const Program& program) const;

  const std::filesystem::path folder_;
  const bool read_only_;
  bool failed_ = false;  // to write, and it was told
};

}  // namespace xlaprof::lazy
