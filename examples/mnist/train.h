// Trains a convolutional network to read digits on the lazy runtime, either well or with one
// planted pathology that a profiler should find.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "examples/mnist/digits.h"

namespace xlaprof::examples {

struct Pathology {
  std::string_view name;
  std::string_view problem;  // in a few words
};
// Returns changing_batch, baked_scalar, ...
std::span<const Pathology> Pathologies();

struct MnistOptions {
  std::string pathology;  // empty: none
  // Does the work of the pathology without the fault, to measure what a fix saves. Only for those
  // whose graph changes with the step's number, which is the same in each step then: baked_scalar,
  // loop_index, loop_count and live_tensor; and for clip_norm.
  bool repaired = false;
  std::filesystem::path data;  // directory with MNIST's files; empty: digits are drawn
  int64_t steps = 300, batch = 64;
  uint64_t seed = 1;
  // Called after each step with the number of steps done.
  std::function<void(int64_t step)> progress;
};

struct MnistResult {
  double accuracy = 0;   // on held-out digits
  double loss = 0;       // the last batch's
  int64_t steps_ns = 0;  // how long all steps took
};

// Trains. Raises lazy::Error if the runtime does. Returns an error if the options or the files are
// wrong.
absl::StatusOr<MnistResult> TrainMnist(const MnistOptions& options);

}  // namespace xlaprof::examples
