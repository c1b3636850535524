// The texts are those of torch 2.9.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/trace/eager.h"
#include "core/trace/functions.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

template <class T>
HostTensor OnHost(std::initializer_list<T> values, const Dims& sizes) {
  HostTensor host{{DTypeOf<T>(), sizes}, std::vector<std::byte>(values.size() * sizeof(T))};
  std::copy(values.begin(), values.end(), reinterpret_cast<T*>(host.bytes.data()));
  return host;
}

TEST(Print, AsPyTorch) {
  const auto host = [](const Tensor& tensor) { return tensor.to_cpu(); };
  const std::pair<HostTensor, std::string_view> cases[] = {
      {OnHost<float>({0.8154f, 2.493f, -1}, {3}), R"(tensor([ 0.8154,  2.4930, -1.0000]))"},
      {OnHost<float>({-1, 20, INFINITY, -NAN, -0.f}, {5}), R"(tensor([-1., 20., inf, nan, -0.]))"},
      {OnHost<float>({NAN, -INFINITY, 0.5}, {3}), R"(tensor([   nan,   -inf, 0.5000]))"},
      {OnHost<float>({NAN, 0}, {2}), R"(tensor([nan, 0.]))"},
      {OnHost<float>({1e10f, 1, 0, -INFINITY}, {2, 2}),
       R"(tensor([[1.0000e+10, 1.0000e+00],
        [0.0000e+00,       -inf]]))"},
      {OnHost<float>({1, 1000}, {2}), R"(tensor([   1., 1000.]))"},
      {OnHost<float>({1, 1001}, {2}), R"(tensor([1.0000e+00, 1.0010e+03]))"},
      {OnHost<float>({9e-5f, 1e-5f}, {2}), R"(tensor([9.0000e-05, 1.0000e-05]))"},
      {OnHost<double>({0.1, 1e8}, {2}), R"(tensor([1.0000e-01, 1.0000e+08], dtype=torch.float64))"},
      {OnHost<double>({1.5}, {}), R"(tensor(1.5000, dtype=torch.float64))"},
      {OnHost<int64_t>({7}, {}), R"(tensor(7))"},
      {OnHost<int64_t>({-1, 100, 7, 8}, {2, 2}),
       R"(tensor([[ -1, 100],
        [  7,   8]]))"},
      {OnHost<int32_t>({-1, 100}, {2}), R"(tensor([ -1, 100], dtype=torch.int32))"},
      {OnHost<bool>({true, false}, {2, 1}),
       R"(tensor([[ True],
        [False]]))"},
      {OnHost<float>({}, {0}), R"(tensor([]))"},
      {OnHost<float>({}, {0, 3}), R"(tensor([], size=(0, 3)))"},
      {OnHost<int64_t>({}, {0}), R"(tensor([], dtype=torch.int64))"},
      {OnHost<bool>({}, {2, 0}), R"(tensor([], size=(2, 0), dtype=torch.bool))"},
      {host(arange(8).view({2, 2, 2}).to(DType::kBF16)),
       R"(tensor([[[0., 1.],
         [2., 3.]],

        [[4., 5.],
         [6., 7.]]], dtype=torch.bfloat16))"},
      {host(arange(30) * 1.5),
       R"(tensor([ 0.0000,  1.5000,  3.0000,  4.5000,  6.0000,  7.5000,  9.0000, 10.5000,
        12.0000, 13.5000, 15.0000, 16.5000, 18.0000, 19.5000, 21.0000, 22.5000,
        24.0000, 25.5000, 27.0000, 28.5000, 30.0000, 31.5000, 33.0000, 34.5000,
        36.0000, 37.5000, 39.0000, 40.5000, 42.0000, 43.5000]))"},
      {host(arange(12) * 100000000),
       R"(tensor([         0,  100000000,  200000000,  300000000,  400000000,  500000000,
         600000000,  700000000,  800000000,  900000000, 1000000000, 1100000000]))"},
      {host(arange(8).to(DType::kF16) * 100),
       R"(tensor([  0., 100., 200., 300., 400., 500., 600., 700.], dtype=torch.float16))"},
      {host(arange(1001)), R"(tensor([   0,    1,    2,  ...,  998,  999, 1000]))"},
      {host(arange(1200).view({3, 4, 100}).to(DType::kF32) / 8),
       R"(tensor([[[0.0000e+00, 1.2500e-01, 2.5000e-01,  ..., 1.2125e+01,
          1.2250e+01, 1.2375e+01],
         [1.2500e+01, 1.2625e+01, 1.2750e+01,  ..., 2.4625e+01,
          2.4750e+01, 2.4875e+01],
         [2.5000e+01, 2.5125e+01, 2.5250e+01,  ..., 3.7125e+01,
          3.7250e+01, 3.7375e+01],
         [3.7500e+01, 3.7625e+01, 3.7750e+01,  ..., 4.9625e+01,
          4.9750e+01, 4.9875e+01]],

        [[5.0000e+01, 5.0125e+01, 5.0250e+01,  ..., 6.2125e+01,
          6.2250e+01, 6.2375e+01],
         [6.2500e+01, 6.2625e+01, 6.2750e+01,  ..., 7.4625e+01,
          7.4750e+01, 7.4875e+01],
         [7.5000e+01, 7.5125e+01, 7.5250e+01,  ..., 8.7125e+01,
          8.7250e+01, 8.7375e+01],
         [8.7500e+01, 8.7625e+01, 8.7750e+01,  ..., 9.9625e+01,
          9.9750e+01, 9.9875e+01]],

        [[1.0000e+02, 1.0012e+02, 1.0025e+02,  ..., 1.1212e+02,
          1.1225e+02, 1.1238e+02],
         [1.1250e+02, 1.1262e+02, 1.1275e+02,  ..., 1.2462e+02,
          1.2475e+02, 1.2488e+02],
         [1.2500e+02, 1.2512e+02, 1.2525e+02,  ..., 1.3712e+02,
          1.3725e+02, 1.3738e+02],
         [1.3750e+02, 1.3762e+02, 1.3775e+02,  ..., 1.4962e+02,
          1.4975e+02, 1.4988e+02]]]))"},
      {host(arange(1400).view({700, 2})),
       R"(tensor([[   0,    1],
        [   2,    3],
        [   4,    5],
        ...,
        [1394, 1395],
        [1396, 1397],
        [1398, 1399]]))"},
  };
  for (const auto& [tensor, text] : cases) EXPECT_EQ(tensor.ToText(), text);
}

TEST(Print, ShowsDeviceAndGradient) {
  const Tensor x = ones({2}).requires_grad_(), y = x * 2;
  EXPECT_EQ(x.to_text(), "tensor([1., 1.], device='CPU:0', requires_grad=True)");
  EXPECT_EQ(y.to_text(), "tensor([2., 2.], device='CPU:0', grad_fn=<MulBackward0>)");
  {
    EagerMode eager;
    EXPECT_EQ((x * 2).to_text(), y.to_text());
  }
  EXPECT_EQ(y.detach().to_text(), "tensor([2., 2.], device='CPU:0')");
  EXPECT_EQ(y.to(Device::Host()).detach().to_text(), "tensor([2., 2.])");
  EXPECT_EQ(log_softmax(y.unsqueeze(0), 1).slice(1, 0, 1).to_text(),
            "tensor([[-0.6931]], device='CPU:0', grad_fn=<SliceBackward0>)");
  Tensor written = y.clone();
  written.select(0, 1).fill_(0.5);
  EXPECT_EQ(written.to_text(), "tensor([2.0000, 0.5000], device='CPU:0', grad_fn=<CopySlices>)");
  EXPECT_EQ(written.select(0, 1).detach().to(DType::kF64).to_text(),
            "tensor(0.5000, device='CPU:0', dtype=torch.float64)");
  // The text of the elements and of the gradient do not fit one line.
  EXPECT_EQ((arange(9).to(DType::kF16) * 0.5).requires_grad_().to_text(),
            R"(tensor([0.0000, 0.5000, 1.0000, 1.5000, 2.0000, 2.5000, 3.0000, 3.5000, 4.0000],
       device='CPU:0', dtype=torch.float16, requires_grad=True))");
}

}  // namespace
}  // namespace xlaprof::lazy
