// The figures of input_bound about steps that wait for training data. The time that they wait is
// the finding's cost_ns, and the number of steps that wait is the finding's count. The reason says
// whether the run is highly or moderately bound.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzers/finding.h"
#include "analyzers/run/host_samples.h"

namespace xlaprof {

// The way in which the program's DataLoader loads, according to PyTorch's profiler.
enum class DataLoading : uint8_t {
  kUnknown,       // no DataLoader of PyTorch was recorded
  kInStepThread,  // in the thread of the step itself
  kInWorkers,     // in processes of its own
};

// The course of the waits. Only waits that repeat are a warning.
enum class WaitPattern : uint8_t {
  kRepeats,
  kMostlyOneWait,  // without the longest wait, little is left
  kStopped,        // no step waits in the second half
  kReadyBatches,   // the waits are as short as taking a ready batch from a worker process
};

struct InputBoundFigures {
  double share = 0;       // the part of the steady time
  int64_t steps = 0;      // steady steps, or batches; 0: unknown
  bool by_batch = false;  // no step is marked, so each batch of the loader is one
  // The part of the waits in which the device was idle, too. Nothing without a device.
  std::optional<int64_t> idle_ns;
  WaitPattern pattern = WaitPattern::kRepeats;
  int64_t longest_ns = 0;  // the longest wait
  int64_t last_wait = 0;   // the number of the last step that waits; 1 is the first steady step
  DataLoading loading = DataLoading::kUnknown;
  // The samples that show it, if no event does: how many were in a loader, of how many.
  int64_t loader_samples = 0, samples = 0;
  std::vector<int64_t> waits_ns;  // the wait in each step of Finding::evidence
};

// Returns the words of a finding that has InputBoundFigures.
Words SayInputBound(const Finding& finding, Framework framework);

}  // namespace xlaprof
