// Finds out what kind of file system a folder is on.
#pragma once

#include <cstdint>
#include <filesystem>

namespace xlaprof {

enum class FileSystem : uint8_t {
  kLocal,
  kUserSpace,  // FUSE: other machines may write to it, and need not see this machine's locks
  kNetwork,    // locks and shared memory maps cannot be trusted
};

// Returns the kind of file system on which the folder of `file` is. The file need not exist.
// Returns kLocal if the folder cannot be looked at.
FileSystem FileSystemOf(const std::filesystem::path& file);

}  // namespace xlaprof
