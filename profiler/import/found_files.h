// The files that lie in what was given: directories walked, archives opened, and what each file is
// besides its format: of which run, made from which other, part of which dump.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/import/archive.h"
#include "profiler/import/importer.h"
#include "profiler/import/input.h"

namespace xlaprof {

// What a file of which nothing came out looks like: it is empty, or cut before its first block.
inline constexpr std::string_view kEmptyFile = "an empty file";

struct FoundFile {
  std::filesystem::path path;              // ARCHIVE!MEMBER inside an archive
  bool named = false;                      // given by name, not found in a directory or archive
  std::shared_ptr<const Archive> archive;  // that it lies in, and where
  size_t member = 0;
  // What it was made from: then it is listed and not read.
  std::optional<std::string> derived_from, note;
  std::filesystem::path root;  // files of one root belong to one job
  std::string run;             // RUN folder of an XSpace; "" for files that are not of one capture
  bool is_trace = false;       // `run` is of Chrome traces that lie side by side (trace_runs.h)
  std::string dump;            // which dump of one process it is a part of: its folder
  // Who knows its bytes, by the beginning and the end of them; null where nobody asked.
  const Importer* importer = nullptr;
  std::string looks_like;  // to a person, where no importer knows it: then it is of no run
  int64_t modified_ns = 0;
  int64_t bytes = 0;

  // Its bytes; they end with the archive.
  absl::StatusOr<InputFile> Open() const;
};

// Whether it tells of a run: neither made from another file, nor of a format that nobody knows.
bool MayBeRead(const FoundFile& file);

struct FoundFiles {
  std::vector<FoundFile> files;       // in the order in which they are to be read
  std::vector<FoundFile> archives;    // listed; damage in `note`
  std::vector<FoundFile> folders;     // that could not be listed; why in `note`
  std::vector<std::string> problems;  // one line each: directories that are empty, bad archives
};

// `formats_are_given` (--as): no file is asked what it is. NotFound for an input that is not there,
// InvalidArgument for a directory with too many files to be a capture. A file that cannot be opened
// is found all the same: reading it says so.
absl::StatusOr<FoundFiles> FindFiles(std::span<const std::filesystem::path> inputs,
                                     bool formats_are_given);

}  // namespace xlaprof
