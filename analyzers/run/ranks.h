// The ranks of a job, and on which of them a function was compiled.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "analyzers/finding.h"
#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct Ranks {
  std::map<int64_t, int64_t> by_process;  // only processes whose rank is known
  // By function: the processes that compiled it, by the format of the source that shows it.
  std::map<std::string, std::map<std::string, std::set<int64_t>>, std::less<>> compiled;
  std::map<int64_t, std::set<std::string>> formats_of;  // of a compile: the sources that show it

  // Returns the ranks of `processes` for something about a function that happened on no other rank.
  // Returns nothing if it happened on all ranks, or if it is not known that it did not happen on the
  // others: each of them must have compiled the function, in a whole source of a format in `formats`.
  std::optional<OnlyRanks> Only(const std::set<int64_t>& processes, const std::string& function,
                                const std::set<std::string>& formats) const;
  // Returns the formats of sources that show all of these compiles.
  std::set<std::string> FormatsOf(std::span<const int64_t> compiles) const;
  // Returns the formats of the sources of rows of a table. Each source has rows of its own there.
  absl::StatusOr<std::set<std::string>> FormatsOf(const Run& run, std::string_view table,
                                                  std::span<const int64_t> rows) const;

  static absl::StatusOr<Ranks> Of(const Run& run);
};

}  // namespace xlaprof
