// How many steps a run had, from whatever the store has.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/status.h"
#include "profiler/store/store.h"

namespace xlaprof {

// Rows of table step (the slice's); else the MarkStep counter of the last metrics report; else the
// steps that torch_xla's own profiler lines count. Empty when no source shows any.
absl::StatusOr<std::optional<int64_t>> StepCount(const Store& store);

// Rows of table step (the slice's) by process.
absl::StatusOr<std::map<int64_t, int64_t>> StepsByProcess(const Store& store);

// count / steps, or empty.
inline std::optional<double> PerStep(int64_t count, std::optional<int64_t> steps) {
  if (!steps || *steps <= 0) return std::nullopt;
  return double(count) / double(*steps);
}

}  // namespace xlaprof
