// Hides bits in an image, on the host.
#pragma once

#include <cstdint>
#include <vector>

namespace xlaprof::examples {

struct Picture {
  int64_t side = 0;           // a multiple of 8
  std::vector<float> pixels;  // rows of values from 0 to 1
};

// Hides the bits of `mark` in the middle frequencies of the blocks of 8 x 8 pixels, one bit in each
// block, again and again.
void AddWatermark(Picture& picture, uint64_t mark);

// Returns the bits that most of the blocks have.
uint64_t ReadWatermark(const Picture& picture);

}  // namespace xlaprof::examples
