// Finds the files that were made from other files of a run, or that belong to one of them.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "profiler/import/plan/identify.h"

namespace xlaprof {

// The names of the files in each of some folders. They show which files known tools made from other
// files of a run. Reading both would count every event twice.
class FolderNames {
 public:
  void Add(const std::filesystem::path& path);

  // Returns the file beside `path` from which a known tool made it: XProf, JAX, tlparse, `xlaprof run`,
  // and pytorch/xla's scripts/debug_run.py, which puts its files beside those of the run.
  std::optional<std::string> OriginOf(const std::filesystem::path& path) const;
  // Returns whether the file is beside a store that is being written, or whose writer was killed.
  // Reading that store reads this file, too.
  bool IsPartOfAStore(const std::filesystem::path& path) const;

 private:
  struct Folder {
    std::set<std::string> names;
    bool has_xplane = false;
  };
  // Returns the first of `names` that the folder has.
  std::optional<std::string> FirstIn(const std::filesystem::path& folder,
                                     std::span<const std::string> names) const;
  std::optional<std::string> OriginInDebugRun(const std::filesystem::path& path) const;

  std::map<std::filesystem::path, Folder> folders_;
};

// Groups the files in folders of --xla_dump_to and JAX_DUMP_IR_TO. A folder has dozens of files per
// program, and two of them are read.
//
// Orders the files of each dump by program and marks those to read with their folder (`dump`). Puts
// one entry, STEM.*, in the place of all other files of a program, as derived from the one that is
// read. Files that were named stay where they are; the first of each program is marked.
void GroupDumps(std::vector<IdentifiedFile>& files);

// Finds, by their marks of origin (profiler/store/origin.h), files that xlaprof made from other
// files of the inputs: exports, stores and reports. Reading both would count every event twice.
//
// Sets `derived_from` and `note` of such files, also of those that were named, because the content
// of the files proves it:
//
// - What was made from a file of the inputs is not read, whichever part of the run it holds.
// - Of several files that were made from one run, whose own files are not in the inputs, one is read: the
//   one that holds most. Files of different folders plugins/profile/RUN are of different runs.
// - Of several copies of one recording, the largest is read.
//
// Opens files only if one of them has a mark, or is a store.
void ListMadeFiles(std::vector<IdentifiedFile>& files);

}  // namespace xlaprof
