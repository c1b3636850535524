// Finds, by their names, files that known tools made from other files of a run. Reading both would
// count every event twice.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace xlaprof {

// The names of the files in each of some folders.
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

}  // namespace xlaprof
