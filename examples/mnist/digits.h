// Supplies handwritten digits: MNIST's own files if they are given, otherwise digits drawn by a
// seeded generator.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "base/status.h"

namespace xlaprof::examples {

struct Digits {
  static constexpr int64_t kSide = 28;
  std::vector<float> images;    // per digit kSide rows of kSide values, 0 to 1
  std::vector<int64_t> labels;  // 0 to 9
  int64_t count() const { return int64_t(labels.size()); }
};

// Draws digits from strokes, which are moved, slanted, scaled, thick or thin, with noise. All
// differ.
Digits DrawDigits(int64_t count, uint64_t seed);

// Reads train-images-idx3-ubyte and train-labels-idx1-ubyte in `folder` (`t10k-` for held-out
// digits), unpacked or with .gz as they are published. An error names the file and what is wrong
// with it.
absl::StatusOr<Digits> ReadDigits(const std::filesystem::path& folder, bool held_out);

}  // namespace xlaprof::examples
