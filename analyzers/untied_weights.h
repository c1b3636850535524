// The finding untied_weights: figures and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analyzers/finding.h"

namespace xlaprof {

// Finding::count is the number of tensors that the one weight became.
struct UntiedWeightsFigures {
  std::string names;                  // names of the parameters, as they were recorded
  int64_t bytes = 0;                  // size of one copy
  std::optional<std::string> device;  // the model's new device; empty if not known
};

// Says that tied weights became separate copies when the model was moved to a device.
Words SayUntiedWeights(const Finding& finding, Framework framework);

}  // namespace xlaprof
