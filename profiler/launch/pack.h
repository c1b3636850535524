// Packs the directory of a recording into one archive that can be given away.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"
#include "profiler/launch/secrets.h"

namespace xlaprof {

// A file whose content is in the archive, as it was when it was read.
struct PackedFile {
  std::filesystem::path path;
  dev_t device = 0;
  ino_t inode = 0;
  off_t bytes = 0;
  timespec modified{};
};

struct Packed {
  std::vector<PackedFile> files;
  std::vector<std::filesystem::path> folders;  // the outer ones first
  // These are not in the archive: links, pipes, sockets, and files that cannot be read.
  std::vector<std::filesystem::path> left_out;
  int64_t members = 0;              // files in the archive
  int64_t secrets = 0;              // secrets that were replaced
  std::vector<std::string> unread;  // what is in the archive as it was, and why: "x.7z (7z)"
};

// Writes all regular files and folders below `folder` to the gzipped tar `archive`, whose members
// begin with the folder's name and are called as the files are. Secrets are replaced in the
// archive, also in what is packed (secret_files.h), and not in the folder. The archive itself may
// lie in the folder and is not packed. `xlaprof report ARCHIVE` reads it.
absl::StatusOr<Packed> PackFolder(const std::filesystem::path& folder,
                                  const std::filesystem::path& archive, const Secrets& secrets);

// Removes the files that are in the archive, unless they have changed since, and then the packed
// folders and `folder` if they are empty. Returns what stays.
std::vector<std::filesystem::path> RemovePacked(const std::filesystem::path& folder,
                                                const Packed& packed);

}  // namespace xlaprof
