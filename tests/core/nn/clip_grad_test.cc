// Tests clip_grad_norm_() against torch 2.9, whose values these are.
#include "core/nn/clip_grad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "core/metrics/metrics.h"
#include "core/nn/optim.h"
#include "tests/core/nn/sines.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::DoubleNear;
using ::testing::Pointwise;

std::vector<double> GradOf(const Tensor& parameter) {
  const HostTensor host = parameter.grad().to_cpu();
  const auto values = host.values<double>();
  return {values.begin(), values.end()};
}

// Three parameters, the last of which has no gradient.
std::vector<Tensor> Parameters() {
  std::vector<Tensor> parameters;
  for (const Dims& sizes : {Dims{4}, Dims{2, 3}, Dims{2}})
    parameters.push_back(zeros(sizes, DType::kF64).requires_grad_());
  (sum(parameters[0] * Sines({4}, 1)) + sum(parameters[1] * Sines({2, 3}, 2))).backward();
  return parameters;
}

struct Clipped {
  double order, most, norm;
  std::vector<double> first, second;
};

TEST(ClipGradNorm, EqualsTorch) {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const Clipped& clipped : {
           Clipped{2,
                   1,
                   2.480688780262426,
                   {0.339208469959867, 0.36655023697864, -0.38655549851207, -0.219302355021521},
                   {0.36655023697864, 0.056887406552277, -0.112636211275626, -0.403109737665351,
                    -0.30273323683876, 0.385528225259722}},
           Clipped{1,
                   0.5,
                   7.290900111997444,
                   {0.057706926200331, 0.062358370581203, -0.065761711750911, -0.037308221750132},
                   {0.062358370581203, 0.009677816630077, -0.019161931694502, -0.06857795704465,
                    -0.051501675529236, 0.065586949659127}},
           Clipped{infinity,
                   0.3,
                   0.999990206550703,
                   {0.252443515291621, 0.272791626827044, -0.287679812096783, -0.163207768426047},
                   {0.272791626827044, 0.042336374700724, -0.083825386573964, -0.299999699997362,
                    -0.225298155179407, 0.286915301496507}},
           Clipped{3,
                   1,
                   1.761437267928541,
                   {0.477718123949623, 0.516224407849966, -0.544398456717326, -0.308850511990489},
                   {0.516224407849966, 0.08011635186388, -0.158629174400486, -0.567712320526961,
                    -0.426348887977119, 0.542951714980738}},
           Clipped{2,
                   1000,
                   2.480688780262426,
                   {0.841470984807897, 0.909297426825682, -0.958924274663138, -0.54402111088937},
                   {0.909297426825682, 0.141120008059867, -0.279415498198926, -0.999990206550703,
                    -0.750987246771676, 0.956375928404503}},
       }) {
    const std::vector<Tensor> parameters = Parameters();
    const Tensor norm = nn::clip_grad_norm_(parameters, clipped.most, clipped.order);
    EXPECT_EQ(norm.sizes(), Dims{});
    EXPECT_NEAR(norm.item(), clipped.norm, 1e-14) << clipped.order;
    EXPECT_THAT(GradOf(parameters[0]), Pointwise(DoubleNear(1e-14), clipped.first));
    EXPECT_THAT(GradOf(parameters[1]), Pointwise(DoubleNear(1e-14), clipped.second));
    EXPECT_FALSE(parameters[2].grad().defined());
  }
}

TEST(ClipGradNorm, HasTheTypeOfTheGradients) {
  const Tensor x = ones({4}, DType::kBF16).requires_grad_();
  sum(x * 2).backward();
  const Tensor norm = nn::clip_grad_norm_(std::vector{x}, 1);
  EXPECT_EQ(norm.dtype(), DType::kBF16);
  EXPECT_EQ(norm.item(), 4);
  EXPECT_EQ(Values(x.grad())[3], 0.5);
  EXPECT_EQ(nn::clip_grad_norm_(std::vector{ones({1})}, 1).item(), 0);  // no gradient at all
  EXPECT_NE(MessageOf([&] { nn::clip_grad_norm_(std::vector{x}, 1, 0); }).find("norm_type is 0"),
            std::string::npos);
}

// One graph is executed per step, whether the gradients are clipped or not.
TEST(ClipGradNorm, ReadsNothing) {
  Tensor x = ones({4}).requires_grad_();
  optim::SGD optimizer({x}, 0.1);
  const auto executions = [] {
    return metric_data("ExecuteTime").value_or(metrics::MetricData()).count;
  };
  sync(/*wait=*/true);
  const int64_t executions_before = executions(), graphs_before = num_cached_graphs();
  const int64_t reads = counter_value("aten::_local_scalar_dense").value_or(0);
  for (int step = 0; step < 4; ++step) {
    optimizer.zero_grad();
    sum(x * double(2 * step + 2)).backward();  // clipped in all steps but the first
    nn::clip_grad_norm_(std::vector{x}, 5);
    optimizer_step(optimizer, /*barrier=*/true);
  }
  wait_device_ops();
  EXPECT_EQ(executions() - executions_before, 4);
  EXPECT_EQ(num_cached_graphs() - graphs_before, 1);
  EXPECT_EQ(counter_value("aten::_local_scalar_dense").value_or(0), reads);
}

}  // namespace
}  // namespace xlaprof::lazy
