#include "profiler/import/store_file.h"

#include <fstream>

namespace xlaprof {

namespace fs = std::filesystem;

absl::StatusOr<StoreFile> StoreFile::Of(const std::string& path, std::string_view bytes) {
  std::error_code error;
  const bool is_plain = fs::file_size(path, error) == bytes.size() && !error;
  if (is_plain) return StoreFile(path);
  XP_TRY(TemporaryFolder folder, TemporaryFolder::Make("store"));
  StoreFile file(folder.path() / "unpacked.xlaprof");
  file.unpacked_.emplace(std::move(folder));
  std::ofstream out(file.path_, std::ios::binary);
  out.write(bytes.data(), std::streamsize(bytes.size()));
  if (out.flush()) return file;
  return absl::UnavailableError(fmt::format(
      "{}: cannot be written. Check the free space of the disk, or set TMPDIR to another one",
      file.path_.string()));
}

}  // namespace xlaprof
