// The first stage of an import: finds the files in the inputs. It walks directories and opens no
// file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace xlaprof {

// Distinguishes the files of a machine, whatever their names: several names and links may lead to
// one file.
struct FileId {
  uint64_t device = 0, inode = 0;  // 0: unknown
  bool is_known() const { return inode != 0; }
  auto operator<=>(const FileId&) const = default;
};

struct FoundFile {
  std::filesystem::path path;  // "-" is standard input
  bool named = false;          // given by name, not found in a directory or an archive
  int64_t modified_ns = 0;     // Unix time; 0 unknown
  int64_t bytes = 0;           // on disk
  FileId id = {};
  std::optional<std::string> links_to;  // the file that it leads to, if it is a symbolic link
};

struct Listing {
  // Something in a directory that is not read.
  struct Unread {
    std::filesystem::path path;
    std::string why;         // one line: what, where and what to try
    std::string_view issue;  // code of the import issue; "": it is only listed
    std::optional<std::string> links_to = {};
  };
  std::vector<FoundFile> files;  // sorted by path, each once
  // Folders that cannot be listed; links that lead to no file that can be read; pipes, sockets and
  // devices.
  std::vector<Unread> unread;
  std::vector<std::string>
      problems;  // one line each: directories that are empty, and what is not read
};

// Returns NotFound for an input that does not exist, and InvalidArgument for a directory with too
// many files to be a capture. A file that cannot be opened is found, too; reading it reports the
// error. Links to regular files are followed, and those to directories are not, because they may
// lead back. A link is not followed to what has no known size: devices, pipes, and files of the
// kernel.
absl::StatusOr<Listing> FindFiles(std::span<const std::filesystem::path> inputs);

// Sorts files by their paths.
template <class File>
void SortByPath(std::vector<File>& files) {
  std::ranges::stable_sort(files, {}, [](const File& file) -> const auto& { return file.path; });
}

}  // namespace xlaprof
