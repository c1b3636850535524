// Counts the steps of a run, from the best data in the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct StepCounts {
  // The number of rows of table step in the chosen part, or else the MarkStep counter of the last
  // metrics report, or else the steps that torch_xla's own profiler lines count. Empty if no source
  // has any.
  OptInt all;
  std::map<int64_t, int64_t> by_process;  // rows of table step in the chosen part

  int64_t Of(int64_t process_id) const {
    const auto count = by_process.find(process_id);
    return count == by_process.end() ? 0 : count->second;
  }
  static absl::StatusOr<StepCounts> Of(const Run& run);
};

// Returns whether something that happens this often is a pattern. `per_step` is empty if no step is
// known.
bool IsOften(int64_t count, std::optional<double> per_step);

// Returns whether something happens in every step, except perhaps a few of the first and last ones.
bool IsInEveryStep(std::optional<double> per_step);

// Returns count / steps, or nothing if the steps are not known.
inline std::optional<double> PerStep(int64_t count, std::optional<int64_t> steps) {
  if (!steps || *steps <= 0) return std::nullopt;
  return double(count) / double(*steps);
}

}  // namespace xlaprof
