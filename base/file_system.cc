#include "base/file_system.h"

#include <sys/vfs.h>

namespace xlaprof {

FileSystem FileSystemOf(const std::filesystem::path& file) {
  struct statfs info {};
  const std::filesystem::path folder =
      file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  if (statfs(folder.c_str(), &info) != 0) return FileSystem::kLocal;
  switch (static_cast<uint32_t>(info.f_type)) {  // linux/magic.h
    case 0x6969:      // NFS
    case 0xFF534D42:  // CIFS
    case 0xFE534D42:  // SMB2
    case 0x517B:      // SMB
    case 0x01021997:  // 9P
    case 0x00C36400:  // Ceph
    case 0x0BD00BD0:  // Lustre
      return FileSystem::kNetwork;
    case 0x65735546:  // FUSE
      return FileSystem::kUserSpace;
    default:
      return FileSystem::kLocal;
  }
}

}  // namespace xlaprof
