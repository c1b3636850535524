// A small U-Net that finds the noise in an image, as the models of diffusers do.
#pragma once

#include "core/nn/nn.h"

namespace xlaprof::examples {

struct Denoiser : lazy::nn::Module {
  static constexpr int64_t kSide = 32;  // of an image, in pixels

  // Returns the noise in images [N, 1, 32, 32], which are at timesteps [N] or [1] of 1,000.
  lazy::Tensor operator()(const lazy::Tensor& images, const lazy::Tensor& timesteps) const;
  std::vector<lazy::nn::Part> parts() override {
    return {{"time1", time1}, {"time2", time2}, {"in", in},       {"down", down}, {"norm1", norm1},
            {"norm2", norm2}, {"deep", deep},   {"norm3", norm3}, {"up", up},     {"out", out}};
  }

  lazy::nn::Linear time1{32, 64}, time2{64, 64};
  lazy::nn::Conv2d in{1, 32, 3, 1, 1}, down{32, 64, 3, 2, 1}, deep{64, 64, 3, 1, 1},
      up{96, 32, 3, 1, 1}, out{32, 1, 3, 1, 1};
  lazy::nn::GroupNorm norm1{8, 32}, norm2{8, 64}, norm3{8, 64};
};

// Repeats each pixel `times` times in both directions.
lazy::Tensor Enlarge(const lazy::Tensor& images, int64_t times);

}  // namespace xlaprof::examples
