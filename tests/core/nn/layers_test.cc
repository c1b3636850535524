// Tests layers that consist of more than one function, against their formulas in f64.
#include <gtest/gtest.h>

#include <cmath>

#include "core/nn/nn.h"
#include "core/trace/step.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

constexpr int64_t kImages = 4, kChannels = 3, kSide = 2, kCount = kImages * kSide * kSide;
constexpr double kEps = 1e-5;

Tensor Put(const std::vector<double>& values, Dims sizes) {
  return Tensor::FromHost(std::span(values), std::move(sizes));
}
std::vector<double> Doubles(const Tensor& tensor) {
  const HostTensor host = tensor.to_cpu();
  const auto values = host.values<double>();
  return {values.begin(), values.end()};
}

class BatchNorm : public testing::Test {
 protected:
  BatchNorm() {
    norm_.weight = Put(weight_, {kChannels}).requires_grad_();
    norm_.bias = Put(bias_, {kChannels}).requires_grad_();
    norm_.running_mean = Put({0, 0, 0}, {kChannels});
    norm_.running_var = Put({1, 1, 1}, {kChannels});
  }
  static Tensor Images(const std::vector<double>& values) {
    return Put(values, {kImages, kChannels, kSide, kSide});
  }
  static std::vector<double> Values(int seed) {
    std::vector<double> values(size_t(kImages * kChannels * kSide * kSide));
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(double(i * i + size_t(seed)));
    return values;
  }
  // Returns the indices of a channel's elements.
  static std::vector<size_t> Of(int64_t channel) {
    std::vector<size_t> places;
    for (int64_t image = 0; image < kImages; ++image) {
      for (int64_t i = 0; i < kSide * kSide; ++i)
        places.push_back(size_t((image * kChannels + channel) * kSide * kSide + i));
    }
    return places;
  }
  template <class F>
  static double Mean(int64_t channel, F&& f) {
    double sum = 0;
    for (size_t i : Of(channel)) sum += f(i);
    return sum / double(kCount);
  }

  const std::vector<double> weight_{1, 0.5, -2}, bias_{0, 1, 3};
  nn::BatchNorm2d norm_{kChannels};
};

TEST_F(BatchNorm, TrainsByTheBatchAndFollowsItsMeanAndVariance) {
  std::vector<double> running_mean(3, 0), running_var(3, 1);
  for (int step = 0; step < 3; ++step) {
    const std::vector<double> x = Values(step), slope = Values(100 + step);
    Tensor images = Images(x).requires_grad_();
    norm_.weight.zero_grad(), norm_.bias.zero_grad();
    const Tensor out = norm_(images);
    sum(out * Images(slope)).backward();
    mark_step();
    const std::vector<double> got = Doubles(out), grad = Doubles(images.grad());
    const std::vector<double> to_weight = Doubles(norm_.weight.grad()),
                              to_bias = Doubles(norm_.bias.grad());
    for (int64_t c = 0; c < kChannels; ++c) {
      const double mean = Mean(c, [&](size_t i) { return x[i]; });
      const double var = Mean(c, [&](size_t i) { return (x[i] - mean) * (x[i] - mean); });
      const double scale = 1 / std::sqrt(var + kEps), weight = weight_[size_t(c)];
      auto normal = [&](size_t i) { return (x[i] - mean) * scale; };
      const double slopes = Mean(c, [&](size_t i) { return slope[i]; });
      const double along = Mean(c, [&](size_t i) { return slope[i] * normal(i); });
      for (size_t i : Of(c)) {
        EXPECT_NEAR(got[i], normal(i) * weight + bias_[size_t(c)], 1e-13);
        EXPECT_NEAR(grad[i], weight * scale * (slope[i] - slopes - normal(i) * along), 1e-13);
      }
      EXPECT_NEAR(to_weight[size_t(c)], along * kCount, 1e-13);
      EXPECT_NEAR(to_bias[size_t(c)], slopes * kCount, 1e-13);
      running_mean[size_t(c)] = 0.9 * running_mean[size_t(c)] + 0.1 * mean;
      running_var[size_t(c)] = 0.9 * running_var[size_t(c)] + 0.1 * var * kCount / (kCount - 1);
      EXPECT_NEAR(Doubles(norm_.running_mean)[size_t(c)], running_mean[size_t(c)], 1e-14);
      EXPECT_NEAR(Doubles(norm_.running_var)[size_t(c)], running_var[size_t(c)], 1e-14);
    }
  }
}

TEST_F(BatchNorm, EvaluatesByWhatItHasSeen) {
  norm_.running_mean = Put({0.5, -1, 2}, {kChannels});
  norm_.running_var = Put({4, 1, 0.25}, {kChannels});
  norm_.eval();
  const std::vector<double> x = Values(1), got = Doubles(norm_(Images(x)));
  const double mean[] = {0.5, -1, 2}, var[] = {4, 1, 0.25};
  for (int64_t c = 0; c < kChannels; ++c) {
    for (size_t i : Of(c)) {
      const double normal = (x[i] - mean[c]) / std::sqrt(var[c] + kEps);
      EXPECT_NEAR(got[i], normal * weight_[size_t(c)] + bias_[size_t(c)], 1e-14);
    }
  }
  EXPECT_EQ(Doubles(norm_.running_mean)[1], -1);  // the running mean does not change
}

TEST_F(BatchNorm, CannotTrainOnOneValue) {
  EXPECT_NE(
      MessageOf([&] { norm_(Put({1, 2, 3}, {1, 3, 1, 1})); }).find("a single value per channel"),
      std::string::npos);
}

TEST_F(BatchNorm, CannotEvaluateByNothing) {
  EXPECT_NE(MessageOf([&] {
              batch_norm(Images(Values(1)), {}, {}, norm_.weight, norm_.bias);
            }).find("no running mean"),
            std::string::npos);
}

TEST(Dropout, KeepsTheMeanInTrainingAndAllInEvaluation) {
  nn::Dropout half(0.5), all(1);
  const std::vector<float> kept = Values(half(ones({10000})));
  double sum = 0;
  for (float value : kept) {
    EXPECT_TRUE(value == 0 || value == 2);
    sum += value;
  }
  EXPECT_NEAR(sum / 10000, 1, 0.05);
  EXPECT_EQ(Values(all(ones({2}))), (std::vector<float>{0, 0}));
  half.eval();
  EXPECT_EQ(Values(half(ones({2}))), (std::vector<float>{1, 1}));
}

}  // namespace
}  // namespace xlaprof::lazy
