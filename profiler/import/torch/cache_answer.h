// Reads what torch.compile's caches answered when a program was looked up.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/store/rows.h"

namespace xlaprof {

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
