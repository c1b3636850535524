// The finding dropped_batches: figures and words.
#pragma once

#include <cstdint>

#include "analyzers/finding.h"

namespace xlaprof {

// The epochs of the loaders at one line, either those without a step or the others. Finding::count
// is the number of batches that they dropped.
struct DroppedBatchesFigures {
  int64_t epochs = 0;     // of which this was counted
  int64_t of_epochs = 0;  // all at this line
  int64_t batches = 0;    // that the program read in `epochs`
  int64_t devices = 0;    // that each need a batch
};

// Says which batches no step used, and why.
Words SayDroppedBatches(const Finding& finding, Framework framework);

}  // namespace xlaprof
