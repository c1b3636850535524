// The names and places that this process has recorded, the same in each of its recordings. Internal
// to profiler/record.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "core/base/category.h"
#include "profiler/record/ring_file.h"

namespace xlaprof::record {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
// Numbers by text, asked for without making a std::string.
using NumberOfText = absl::flat_hash_map<std::string, uint32_t, TextHash, std::equal_to<>>;

// Numbers go up from 1 and are those of the ring file's tables, which end: what comes when they are
// full is told by a text that says so, and counted in the file. Any thread.
class Sites {
 public:
  static Sites& Get();  // never destroyed: threads may outlive main

  // What a text is for. Each leaves room for those that follow.
  enum Use { kArgument, kMadeName, kPlace };

  uint32_t String(std::string_view text, Use use);
  uint32_t Add(Category category, std::string_view name, std::string_view file, int line,
               std::string_view function);
  // One number for all uses of a name at a place; of a name alone, where `line` is 0.
  uint32_t OfName(Category category, std::string_view name, std::string_view file = "", int line = 0,
                  std::string_view function = "");

  // From now on `file` gets all that is known and all that comes; null: nobody does.
  void Attach(RingFile* file);
  // Between fork and what follows, nobody holds the lock.
  std::mutex& mutex() { return mutex_; }

 private:
  Sites();
  uint32_t StringLocked(std::string_view text, Use use);
  uint32_t AddLocked(Category category, std::string_view name, std::string_view file, int line,
                     std::string_view function, Use use);
  void Lose();

  std::mutex mutex_;
  NumberOfText ids_;
  std::vector<std::string> strings_;
  size_t string_bytes_ = 0;  // in a file's table
  std::vector<SiteEntry> sites_;
  // By kind, and by the numbers of the name, the file and the line.
  absl::flat_hash_map<std::tuple<Category, uint32_t, uint32_t, int>, uint32_t> named_;
  RingFile* file_ = nullptr;
  bool full_ = false;  // the file's disk: what comes has no name there
};

}  // namespace xlaprof::record
