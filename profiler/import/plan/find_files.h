// The first stage of an import: finds the files in the inputs. It walks directories and opens no
// file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace xlaprof {

struct FoundFile {
  std::filesystem::path path;  // "-" is standard input
  bool named = false;          // given by name, not found in a directory or an archive
  int64_t modified_ns = 0;     // Unix time; 0 unknown
  int64_t bytes = 0;           // on disk
};

struct Listing {
  // Something in the inputs that holds files but could not be listed.
  struct Unlisted {
    std::filesystem::path path;
    std::string why;  // one line: what, where and what to try
  };
  std::vector<FoundFile> files;  // sorted by path, each once
  std::vector<Unlisted> folders;
  std::vector<std::string> problems;  // one line each: directories that are empty or not listed
};

// Returns NotFound for an input that does not exist, and InvalidArgument for a directory with too
// many files to be a capture. A file that cannot be opened is found, too; reading it reports the
// error.
absl::StatusOr<Listing> FindFiles(std::span<const std::filesystem::path> inputs);

// Sorts files by their paths.
template <class File>
void SortByPath(std::vector<File>& files) {
  std::ranges::stable_sort(files, {}, [](const File& file) -> const auto& { return file.path; });
}

}  // namespace xlaprof
