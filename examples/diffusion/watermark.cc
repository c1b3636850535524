#include "examples/diffusion/watermark.h"

#include <array>
#include <cmath>

namespace xlaprof::examples {
namespace {

constexpr int64_t kSide = 8, kBits = 64;
constexpr double kGrid = 0.08;            // a bit moves its frequency by at most half of this
constexpr int64_t kRow = 2, kColumn = 3;  // the frequency that has a block's bit

using Block = std::array<double, kSide * kSide>;

// Returns row `k` of the matrix of the cosine transform.
const Block& Cosines() {
  static const Block cosines = [] {
    Block all;
    for (int64_t k = 0; k < kSide; ++k) {
      const double scale = std::sqrt((k == 0 ? 1.0 : 2.0) / kSide);
      for (int64_t i = 0; i < kSide; ++i)
        all[size_t(k * kSide + i)] = scale * std::cos(M_PI * (double(i) + 0.5) * double(k) / kSide);
    }
    return all;
  }();
  return cosines;
}

// Multiplies the rows of a block by the cosines, or by their transpose, and transposes the product.
Block TransformRows(const Block& block, bool back) {
  const Block& cosines = Cosines();
  Block out;
  for (int64_t row = 0; row < kSide; ++row) {
    for (int64_t k = 0; k < kSide; ++k) {
      double sum = 0;
      for (int64_t i = 0; i < kSide; ++i)
        sum +=
            block[size_t(row * kSide + i)] * cosines[size_t(back ? i * kSide + k : k * kSide + i)];
      out[size_t(k * kSide + row)] = sum;
    }
  }
  return out;
}

Block Transform(const Block& block, bool back) {
  return TransformRows(TransformRows(block, back), back);
}

// Calls `visit` with each block's first pixel and number.
template <class Visit>
void ForBlocks(int64_t side, Visit&& visit) {
  int64_t number = 0;
  for (int64_t y = 0; y + kSide <= side; y += kSide) {
    for (int64_t x = 0; x + kSide <= side; x += kSide) visit(y * side + x, number++);
  }
}

Block BlockAt(const Picture& picture, int64_t at) {
  Block block;
  for (int64_t i = 0; i < kSide * kSide; ++i)
    block[size_t(i)] = picture.pixels[size_t(at + i / kSide * picture.side + i % kSide)];
  return block;
}

}  // namespace

void AddWatermark(Picture& picture, uint64_t mark) {
  ForBlocks(picture.side, [&](int64_t at, int64_t number) {
    Block frequencies = Transform(BlockAt(picture, at), /*back=*/false);
    double& value = frequencies[kRow * kSide + kColumn];
    const bool bit = (mark >> (number % kBits) & 1) != 0;
    value = (std::floor(value / kGrid) + (bit ? 0.75 : 0.25)) * kGrid;
    const Block block = Transform(frequencies, /*back=*/true);
    for (int64_t i = 0; i < kSide * kSide; ++i)
      picture.pixels[size_t(at + i / kSide * picture.side + i % kSide)] = float(block[size_t(i)]);
  });
}

uint64_t ReadWatermark(const Picture& picture) {
  std::array<int64_t, kBits> votes{};
  ForBlocks(picture.side, [&](int64_t at, int64_t number) {
    const double value =
        Transform(BlockAt(picture, at), /*back=*/false)[kRow * kSide + kColumn] / kGrid;
    votes[size_t(number % kBits)] += value - std::floor(value) > 0.5 ? 1 : -1;
  });
  uint64_t mark = 0;
  for (size_t bit = 0; bit < kBits; ++bit) mark |= uint64_t{votes[bit] > 0} << bit;
  return mark;
}

}  // namespace xlaprof::examples
