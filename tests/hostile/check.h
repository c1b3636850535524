// Checks what holds for every input, however damaged: it is read or refused with a true message,
// and the output is well-formed. Each check returns "" or a description of the error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/formats.h"
#include "profiler/store/store.h"

namespace xlaprof {

// The result of an import.
struct Imported {
  absl::Status status;
  int64_t issues = 0;  // rows of import_issue
  bool said() const { return !status.ok() || issues > 0; }
};

// Imports `path` (a file or a directory) as `xlaprof report` does, `as_format` as --as does, and
// makes the three reports of it.
std::string CheckPath(const std::filesystem::path& path, const std::string& as_format = "",
                      Imported* imported = nullptr);

// Checks bytes in the same way, through a file in the scratch directory.
std::string CheckBytes(std::string_view bytes, const std::string& as_format = "",
                       Imported* imported = nullptr);

// Makes the three reports on a store. They must be valid UTF-8 without control characters, and the
// JSON must be strict.
std::string CheckReports(const Store& store);

// Checks text that goes to a terminal or into a page.
std::string CheckShown(std::string_view what, std::string_view text);

// Checks the error of an import of `path`: it is of a kind that means bad input, names the file,
// suggests what to try, and is short.
std::string CheckError(const absl::Status& status, const std::filesystem::path& path);

// The rows that are read as `format` from `bytes`, sorted: each row is its table and its values
// ("column=value") without ids.
struct Facts {
  Imported imported;
  std::vector<std::vector<std::string>> rows;
};
Facts ReadFacts(const Format& format, std::string_view bytes);

// Returns a directory of this process, which is removed when the process ends. Children share their
// parent's.
const std::filesystem::path& Scratch();

}  // namespace xlaprof
