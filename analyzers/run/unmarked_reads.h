// Reads of a program that marks no step. Each read evaluates all ops recorded since the start.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/run/run.h"
#include "base/status.h"

namespace xlaprof {

struct UnmarkedRead {
  int64_t id = 0;  // id of the execution
  OptInt nodes;
  OptInt inputs;      // of the graph
  std::string graph;  // its identity; "" if unknown
  OptInt site_id;
  std::string value;  // if no source names the line: the ops that make what is read; "" if unknown
  OptInt dur_ns;      // time on the device, or else the host's wait
};

struct UnmarkedReads {
  std::vector<UnmarkedRead> reads;  // in order; either none or at least three
  OptInt first_nodes() const { return reads.front().nodes; }
  OptInt last_nodes() const { return reads.back().nodes; }
  bool grow() const;  // the last graph is clearly larger than the first

  // Returns no reads if the process marks steps, or reads so seldom that growth cannot be
  // distinguished from warm-up.
  static absl::StatusOr<UnmarkedReads> Of(const Run& run, int64_t process_id);
};

}  // namespace xlaprof
