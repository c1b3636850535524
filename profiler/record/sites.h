// The names and places that this process has recorded, the same in each of its recordings. Internal
// to profiler/record.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <mutex>
#include <string>
#include <vector>

#include "profiler/record/ring_file.h"

namespace xlaprof::record {

struct TextHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};
// Numbers by text, asked for without making a std::string.
using NumberOfText = absl::flat_hash_map<std::string, uint32_t, TextHash, std::equal_to<>>;

// Numbers go up from 1 and are those of the ring file's tables. Any thread.
class Sites {
 public:
  static Sites& Get();  // never destroyed: threads may outlive main

  uint32_t String(std::string_view text);
  uint32_t Add(uint8_t kind, std::string_view name, std::string_view file, int line,
               std::string_view function);
  // By name and kind alone: one number for all uses.
  uint32_t OfName(uint8_t kind, std::string_view name);

  // From now on `file` gets all that is known and all that comes; null: nobody does.
  void Attach(RingFile* file);
  // Between fork and what follows, nobody holds the lock.
  std::mutex& mutex() { return mutex_; }

 private:
  uint32_t StringLocked(std::string_view text);
  uint32_t AddLocked(uint8_t kind, std::string_view name, std::string_view file, int line,
                     std::string_view function);

  std::mutex mutex_;
  NumberOfText ids_;
  std::vector<std::string> strings_;
  std::vector<SiteEntry> sites_;
  absl::flat_hash_map<std::pair<uint8_t, uint32_t>, uint32_t> named_;  // by kind and string
  RingFile* file_ = nullptr;
  bool full_ = false;  // the file's tables: what comes has no name there
};

}  // namespace xlaprof::record
