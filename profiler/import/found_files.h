// Finds the files in the inputs, walking directories and opening archives. Also finds out which run
// and dump each file is part of, and which file it was made from.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/import/archive.h"
#include "profiler/import/formats.h"
#include "profiler/import/input.h"

namespace xlaprof {

// The value of looks_like for a file that yields no bytes, because it is empty or cut before its
// first block.
inline constexpr std::string_view kEmptyFile = "an empty file";

struct FoundFile {
  std::filesystem::path path;              // ARCHIVE!MEMBER inside an archive
  bool named = false;                      // given by name, not found in a directory or archive
  std::shared_ptr<const Archive> archive;  // the archive that it is a member of; null: none
  size_t member = 0;
  // The file that it was made from; if there is one, this file is listed and not read. `note` says
  // more.
  std::optional<std::string> derived_from, note;
  std::filesystem::path root;  // files of one root belong to one job
  std::string run;             // RUN folder of an XSpace; "" for files that are not of one capture
  bool is_trace = false;       // `run` is of Chrome traces that lie side by side (trace_runs.h)
  std::string dump;            // the dump of one process that it is part of, by its folder
  // The format that its beginning and its end have; null if it is none that is known, or if that
  // was not asked.
  const Format* format = nullptr;
  // Describes its bytes if no format is recognised. Such a file belongs to no run.
  std::string looks_like;
  int64_t modified_ns = 0;
  int64_t bytes = 0;

  // Opens the file. The bytes of a member are valid as long as its archive.
  absl::StatusOr<InputFile> Open() const;
};

// Returns whether the file may hold facts of a run: it was not made from another file, and its
// format is not unknown.
bool MayBeRead(const FoundFile& file);

struct FoundFiles {
  std::vector<FoundFile> files;       // in the order in which they are to be read
  std::vector<FoundFile> archives;    // listed only; damage in `note`
  std::vector<FoundFile> folders;     // folders that could not be listed; the reason in `note`
  std::vector<std::string> problems;  // one line each: directories that are empty, bad archives
};

// Finds the files of `inputs`. With `formats_are_given` (--as), the files' formats are not
// examined. Returns NotFound for an input that does not exist, and InvalidArgument for a directory
// with too many files to be a capture. A file that cannot be opened is still found; reading it
// reports the error.
absl::StatusOr<FoundFiles> FindFiles(std::span<const std::filesystem::path> inputs,
                                     bool formats_are_given);

// Returns the files on disk that an import of `inputs` reads: the named ones, and those in
// directories except files that no importer knows. The ring and the logs of SQLite that a store may
// have are among them. Archives are not opened. Returns the same errors as FindFiles.
absl::StatusOr<std::vector<std::filesystem::path>> FilesOnDisk(
    std::span<const std::filesystem::path> inputs, bool formats_are_given);

// Returns whether a file that no importer recognises is a document or source code, judged by its name.
// Such files lie beside captures, and nobody expects them in a report.
bool IsDocument(const std::filesystem::path& path);

}  // namespace xlaprof
