// Finds tensors that the thread that makes the steps uploads one by one, many right after each
// other, such as those of a Python loop that makes a tensor of each list.
#pragma once

#include <cstdint>
#include <vector>

#include "analyzers/run/device_time.h"
#include "analyzers/run/run.h"
#include "base/source_place.h"
#include "base/status.h"

namespace xlaprof {

struct UploadBursts {
  // The inputs of one line of the user's code that are such uploads.
  struct Line {
    SourcePlace place;
    int64_t inputs = 0;  // of one execution
  };

  int64_t uploads = 0;            // in all bursts of the steady time
  int64_t exposed_ns = 0;         // time of these bursts in which the device was idle
  double per_turn = 0;            // uploads in a steady step, or else for each execution
  bool by_steps = false;          // `per_turn` counts steps
  double share = 0;               // `exposed_ns` as a part of the steady time
  std::vector<Interval> longest;  // the longest bursts, the longest first
  std::vector<Line> lines;        // the most inputs first; empty if they are not known

  static absl::StatusOr<UploadBursts> Of(const Run& run);
};

}  // namespace xlaprof
