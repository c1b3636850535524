// Handwritten digits: MNIST's own files where they are given, else drawn by a seeded generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/base/status.h"

namespace xlaprof::examples {

struct Digits {
  static constexpr int64_t kSide = 28;
  std::vector<float> images;    // of each digit kSide rows of kSide, 0 to 1
  std::vector<int64_t> labels;  // 0 to 9
  int64_t count() const { return int64_t(labels.size()); }
};

// Strokes of a digit, moved, slanted, scaled, thick or thin, with noise: no two are alike.
Digits DrawDigits(int64_t count, uint64_t seed);

// `folder` has train-images-idx3-ubyte and train-labels-idx1-ubyte (`t10k-` for held-out ones),
// each as it is or as it is offered, with .gz. An error names the file and what is wrong with it.
absl::StatusOr<Digits> ReadDigits(const std::filesystem::path& folder, bool held_out);

}  // namespace xlaprof::examples
