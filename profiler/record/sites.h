// The names and places that this process has recorded, the same in each of its recordings. Internal
// to profiler/record.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "base/category.h"
#include "profiler/record/ring_file.h"

namespace xlaprof::record {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
// Numbers by text, found without making a std::string.
using NumberOfText = absl::flat_hash_map<std::string, uint32_t, TextHash, std::equal_to<>>;

// Numbers begin at 1 and are those of the ring file's tables, whose size is limited. Entries that
// come when the tables are full are replaced by a text that says so, and counted in the file. Any
// thread may call these functions.
class Sites {
 public:
  static Sites& Get();  // never destroyed: threads may outlive main

  // The use of a text. Each use leaves room for those that follow it.
  enum Use { kArgument, kMadeName, kPlace };

  uint32_t String(std::string_view text, Use use);
  // `label` is the user's category, or empty.
  uint32_t Add(Category category, std::string_view name, std::string_view file, int line,
               std::string_view function, std::string_view label);
  // Returns one number for all uses of a name at a place, or of a name alone if `line` is 0.
  uint32_t OfName(Category category, std::string_view name, std::string_view file = "",
                  int line = 0, std::string_view function = "");

  // Writes everything known, and everything added later, to `file`; null stops that.
  void Attach(RingFile* file);
  // The mutex, which is held across a fork so that no other thread holds it in the child.
  std::mutex& mutex() { return mutex_; }

 private:
  Sites();
  uint32_t StringLocked(std::string_view text, Use use);
  uint32_t AddLocked(Category category, std::string_view name, std::string_view file, int line,
                     std::string_view function, std::string_view label, Use use);
  void Lose();

  std::mutex mutex_;
  NumberOfText ids_;
  std::vector<std::string> strings_;
  size_t string_bytes_ = 0;  // bytes used in a file's table
  std::vector<SiteEntry> sites_;
  // Sites by category, and by the numbers of the name, the file and the line.
  absl::flat_hash_map<std::tuple<Category, uint32_t, uint32_t, int>, uint32_t> named_;
  RingFile* file_ = nullptr;
  bool full_ = false;  // the file takes no more entries: later ones have no name in it
};

}  // namespace xlaprof::record
