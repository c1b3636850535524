// The finding untied_weights: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of tensors that the one weight became.
struct UntiedWeightsFigures {
  std::string names;                  // of the parameters, as they were recorded
  int64_t bytes = 0;                  // of one copy
  std::optional<std::string> device;  // that the model was moved to; empty: not known
};

// Says that weights which were tied are copies of each other since the move to a device.
Words SayUntiedWeights(const Finding& finding, Framework framework);

}  // namespace xlaprof
