// Reads the records of torch's structured log (TORCH_TRACE=DIR, and tlparse's copies raw.log and
// raw.jsonl), one after the other, without copying them, and what they say of caches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

// One record. All views point into the log.
struct TraceRecord {
  std::string_view type;     // "chromium_event", "dynamo_start", "artifact" and others
  std::string_view header;   // a JSON object: the value of `type`, and what all records have
  std::string_view payload;  // its lines, each after a tab; "" if it has none, and in raw.jsonl
  int64_t pid = 0;           // process that wrote it
  int64_t offset = 0, line = 0;
};

// Returns a payload without the tab before each of its lines.
std::string TextOfPayload(std::string_view payload);

class TraceRecords {
 public:
  explicit TraceRecords(std::string_view log) : log_(log), are_objects_(log.starts_with('{')) {}

  // Moves to the next record. Returns false at the end. Lines that belong to no record are skipped
  // and counted.
  bool Next(TraceRecord* record);
  int64_t odd_lines() const { return odd_lines_; }
  int64_t first_odd_line() const { return first_odd_line_; }
  // Returns whether the log stops inside of a line, so its last record may be cut.
  bool is_cut() const { return !log_.empty() && log_.back() != '\n'; }

 private:
  std::string_view TakeLine();

  std::string_view log_;
  const bool are_objects_;  // each line is a JSON object, as in raw.jsonl
  size_t at_ = 0;           // begin of the next line
  int64_t lines_ = 0;       // lines taken
  int64_t odd_lines_ = 0, first_odd_line_ = 0;
};

// Returns whether the log begins with such records.
bool IsTorchTrace(std::string_view head);

// What a cache of torch.compile's answered when a program was looked up.
struct CacheAnswer {
  ProgramCache cache = ProgramCache::kUnknown;
  CacheResult result = CacheResult::kUnknown;
  std::string key;  // "" if it is not printed
  OptInt saved_ns;  // compile time, forward and backward, that a hit saved
};

// Reads an artifact of torch's structured log, such as aotautograd_cache_hit. `payload` is its text as
// it stands in the log. Returns nothing for another artifact.
std::optional<CacheAnswer> ParseCacheAnswer(std::string_view artifact, std::string_view payload);

}  // namespace xlaprof
