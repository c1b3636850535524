// Tells what caches of compiled programs answered, and when they were cleared.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

// Tells which programs a cache of compiled programs had, and why it does not keep others.
enum class CacheOutcome : uint8_t {
  kServed,   // a cache had the program
  kTooFast,  // it compiles faster than the cache's threshold, or is smaller
  kNotKept,  // the cache is off, cannot keep such a program, or could not write it
  kMissed,   // no cache had it; as far as is known, the next run will find it
};

// One program that was looked for in one or several caches, by one compilation.
struct SoughtProgram {
  int64_t process_id = 0;
  std::vector<int64_t> lookups;  // rows of table cache_lookup
  std::string name;              // "" if unknown
  std::set<ProgramCache> caches;
  std::set<std::pair<ProgramCache, std::string>> keys;  // its keys in these caches, if known
  CacheOutcome outcome = CacheOutcome::kMissed;
  std::optional<NotStored> why;  // of kTooFast and kNotKept
  bool was_asked = true;         // false: no cache was asked for it
  OptInt least_ns;               // compile time from which on the cache keeps programs
  // The time to compile the program or, if a cache had it, to load it. Parts of the compilation that no
  // cache keeps are left out.
  OptInt dur_ns;
  OptInt saved_ns;  // of kServed: what the source says that the cache saved
  // Its function with the types of its inputs; "" if they are unknown.
  std::string signature;
};

struct CacheUse {
  std::vector<SoughtProgram> programs;  // by process, in the order of their first look-up

  static absl::StatusOr<CacheUse> Of(const Run& run);
};

// Finds calls that clear JAX's caches (jax.clear_caches), which a profile with Python's calls
// contains. Each program is compiled again after such a call.
struct CacheClears {
  std::vector<int64_t> starts_ns;  // sorted
  SourcePlace caller;  // the user's function that made the first of these calls; may be empty

  // Returns whether a call lies between two times.
  bool AnyBetween(int64_t from_ns, int64_t to_ns) const;

  static absl::StatusOr<CacheClears> Of(const Run& run);
};

}  // namespace xlaprof
