// A convolutional network learns digits on the lazy runtime: as it should be done, or with one sin
// planted that a profiler should find.
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
  std::string_view sin;  // what is wrong, in a few words
};
// changing_batch, baked_scalar, ...
std::span<const Pathology> Pathologies();

struct MnistOptions {
  std::string pathology;       // empty: none
  std::filesystem::path data;  // MNIST's files; empty: digits are drawn
  int64_t steps = 300, batch = 64;
  uint64_t seed = 1;
  // Called after each step with what is done; the loss where the step has read it.
  std::function<void(int64_t step)> progress;
};

struct MnistResult {
  double accuracy = 0;  // of held-out digits
  double loss = 0;      // of the last batch
};

// Raises lazy::Error where the runtime does; a status for what is wrong with the options or the
// files.
absl::StatusOr<MnistResult> TrainMnist(const MnistOptions& options);

}  // namespace xlaprof::examples
