// The ranks that run the same programs on different data, as a backend sees them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/status.h"

namespace xlaprof::lazy {

// Exchanges values with the other ranks during one execution. The thread that executes uses it.
class Peers {
 public:
  virtual ~Peers() = default;
  virtual int64_t rank() const = 0;
  virtual int64_t size() const = 0;

  // Offers `own` to the other ranks, waits until each of them is at the same instruction of the
  // same program, and returns what they offer, by rank. `place` is the index of the instruction,
  // and `what` describes it for errors. If ranks run different programs, or one of them ended or
  // does not come, each rank gets an error that says so. Call Leave() after reading.
  virtual absl::StatusOr<std::span<const std::span<const char>>> Meet(
      int64_t place, std::string_view what, std::span<const char> own) = 0;
  // Waits until all ranks have read `own`.
  virtual absl::Status Leave() = 0;
};

}  // namespace xlaprof::lazy
