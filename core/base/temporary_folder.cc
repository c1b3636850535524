#include "core/base/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace xlaprof {

namespace fs = std::filesystem;

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make(std::string_view purpose) {
  std::error_code error;
  fs::path place = fs::temp_directory_path(error);
  if (error) return IoError("TMPDIR: no folder for temporary files: {}", error.message());
  std::string name = (place / fmt::format("xlaprof-{}-XXXXXX", purpose)).string();
  if (mkdtemp(name.data()) == nullptr)
    return IoError("{}: cannot create a folder there: {}. Set TMPDIR to one that can be written",
                   place.string(), std::strerror(errno));
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace xlaprof
