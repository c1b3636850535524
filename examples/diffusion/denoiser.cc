#include "examples/diffusion/denoiser.h"

#include <cmath>

namespace xlaprof::examples {

using namespace lazy;

namespace {

// Returns sines and cosines of the timesteps at 16 frequencies, [N, 32].
Tensor Waves(const Tensor& timesteps) {
  const Tensor frequencies = exp(arange(16, DType::kF32) * (-std::log(10000.0) / 16));
  const Tensor angles = timesteps.unsqueeze(1) * frequencies;
  return cat(std::vector{sin(angles), cos(angles)}, 1);
}

}  // namespace

Tensor Enlarge(const Tensor& images, int64_t times) {
  const Dims sizes = images.sizes();
  return images.unsqueeze(3)
      .unsqueeze(5)
      .expand({sizes[0], sizes[1], sizes[2], times, sizes[3], times})
      .view({sizes[0], sizes[1], sizes[2] * times, sizes[3] * times});
}

Tensor Denoiser::operator()(const Tensor& images, const Tensor& timesteps) const {
  const Tensor time = time2(silu(time1(Waves(timesteps)))).unsqueeze(2).unsqueeze(3);
  const Tensor fine = silu(norm1(in(images)));
  Tensor coarse = silu(norm2(down(fine)) + time);
  coarse = silu(norm3(deep(coarse)));
  return out(silu(up(cat(std::vector{Enlarge(coarse, 2), fine}, 1))));
}

}  // namespace xlaprof::examples
