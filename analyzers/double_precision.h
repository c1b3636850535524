// The figures and words of double_precision.
#pragma once

#include <cstdint>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

struct DoublePrecisionFigures {
  std::string program;     // such as train_step; "" if it has no name
  std::string device;      // the device that computes
  double share = 0;        // of its busy time, in ops with results of doubles
  bool has_array = false;  // an array of doubles in the program brings the type in
  int64_t inputs = 0;      // arrays of doubles among the program's inputs, which bring it in
};

// Says how much is computed in double precision, what brings it in, and how to avoid it.
Words SayDoublePrecision(const Finding& finding, Framework framework);

}  // namespace xlaprof
