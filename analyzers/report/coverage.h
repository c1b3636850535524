// Counts what each source of a run showed, for the table at the end of a report.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analyzers/run/run.h"

namespace xlaprof {

// The part of the run that one source saw.
struct Coverage {
  std::string path, format;
  std::optional<int64_t> steps, compiles, executions, transfers, events;
  std::optional<int64_t> from_ns, to_ns;  // its window, if it has a clock
  std::string note;
};

// Returns one row per imported source, with the counts of its own rows. All files of a dump
// directory, which has several per program, are one row. `totals_note` is added to the sources of
// which the report shows totals.
absl::StatusOr<std::vector<Coverage>> CoverageOf(const Run& run, const std::string& totals_note);

// The processes that our recorder recorded and that recorded nothing. A process that only starts the
// ranks of a job is one.
struct SilentProcesses {
  std::set<int64_t> ids;

  static absl::StatusOr<SilentProcesses> Of(const Run& run);
};

// Sets `count` to `other` if that is known and larger.
inline void TakeMore(std::optional<int64_t>& count, std::optional<int64_t> other) {
  if (other && *other > count.value_or(0)) count = other;
}

}  // namespace xlaprof
