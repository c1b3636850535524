// The second stage of an import: opens each file that was found, replaces archives by their
// members, and finds out what each file is.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/import/archive.h"
#include "profiler/import/file_kind.h"
#include "profiler/import/formats.h"
#include "profiler/import/input.h"
#include "profiler/import/plan/find_files.h"
#include "profiler/store/origin.h"

namespace xlaprof {

struct IdentifiedFile : FoundFile {
  // The archive that it is a member of, whose path is then ARCHIVE!MEMBER; null: none.
  std::shared_ptr<const Archive> archive;
  size_t member = 0;
  bool is_in_named_archive = false;
  // The file that it was made from. If there is one, this file is listed and not read, and `note`
  // says more.
  std::optional<std::string> derived_from, note;
  std::string run_folder;  // RUN of plugins/profile/RUN, where XLA's profiler writes; "" elsewhere
  std::string dump;        // the dump of one process that it is part of, by its folder
  // Its format. Null if none is known, if the user gave one (--as), or for parts of a dump, which
  // are known by their names.
  const Format* format = nullptr;
  std::optional<Look> look;       // what it looks like if no format is recognised
  std::optional<TraceSpan> span;  // of a trace that does not lie alone
  std::optional<Origin> origin;   // what xlaprof made it from

  // Opens the file, or hands over what identifying it has opened. The bytes of a member are valid
  // as long as its archive.
  absl::StatusOr<InputFile> Open(bool maps_large_files);
  std::shared_ptr<InputFile> opened;
};

// Returns whether the file may hold facts of a run: it was not made from another file, and its
// format is not unknown.
bool MayBeRead(const IdentifiedFile& file);

struct Identified {
  std::vector<IdentifiedFile> files;     // in the order in which they are to be read
  std::vector<IdentifiedFile> archives;  // listed only; damage in `note`
  std::vector<std::string> problems;     // one line each: archives that cannot be read
};

struct IdentifyOptions {
  bool formats_are_given = false;  // --as: the files' formats are not examined
  bool opens_archives = true;      // false: archives are listed only
};

// A file that cannot be opened is kept; reading it reports the error.
Identified Identify(std::vector<FoundFile> files, const IdentifyOptions& options);

// Returns the files on disk that an import of `inputs` reads: the named ones, and those in
// directories except files that no importer knows, and what xlaprof made from others. The ring and
// the logs of SQLite that a store may have are among them. Archives are not opened. Returns the
// same errors as FindFiles.
absl::StatusOr<std::vector<std::filesystem::path>> FilesOnDisk(
    std::span<const std::filesystem::path> inputs, bool formats_are_given);

// Returns whether a file that no importer recognises is a document or source code, judged by its name.
// Such files lie beside captures, and nobody expects them in a report.
bool IsDocument(const std::filesystem::path& path);

}  // namespace xlaprof
