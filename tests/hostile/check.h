// What holds for every input, however damaged: it is read or refused with a true message, and what
// is then shown is well-formed. Each check returns "" or what is wrong.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/import/importer.h"
#include "profiler/store/store.h"

namespace xlaprof {

// What became of an import.
struct Imported {
  absl::Status status;
  int64_t issues = 0;  // rows of import_issue
  bool said() const { return !status.ok() || issues > 0; }
};

// Imports `path` (a file or a directory) as `xlaprof report` does, `as_format` as --as does, and
// makes the three reports of it.
std::string CheckPath(const std::filesystem::path& path, const std::string& as_format = "",
                      Imported* imported = nullptr);

// The same with bytes, through a file of the scratch directory.
std::string CheckBytes(std::string_view bytes, const std::string& as_format = "",
                       Imported* imported = nullptr);

// The three reports on a store: they are made, valid UTF-8 without control characters, the JSON is
// strict.
std::string CheckReports(const Store& store);

// Text that goes to a terminal or into a page.
std::string CheckShown(std::string_view what, std::string_view text);

// The error of an import of `path`: of a kind that means bad input, naming the file, saying what to
// try, and short.
std::string CheckError(const absl::Status& status, const std::filesystem::path& path);

// What `importer` alone reads of `bytes`: each row as its table and what is known of it
// ("column=value"), ids left out; sorted.
struct Facts {
  Imported imported;
  std::vector<std::vector<std::string>> rows;
};
Facts ReadFacts(const Importer& importer, std::string_view bytes);

// A directory of this process, removed when it ends; children share their parent's.
const std::filesystem::path& Scratch();

}  // namespace xlaprof
