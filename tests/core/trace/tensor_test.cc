#include "core/trace/tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/metrics/metrics.h"
#include "core/trace/functions.h"
#include "core/trace/step.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Tensor, ComputesWhenItIsRead) {
  const Tensor x = arange(3, DType::kF32);
  EXPECT_THAT(Values((x + 1) * 2 - 1), ElementsAre(1, 3, 5));
  EXPECT_EQ((x * x).sizes(), (Dims{3}));
}

// Hears the scopes of the calling thread in which operations are recorded.
class TracingListener final : public Listener {
 public:
  void BeginScope(observe::Site& site, std::string_view, const std::source_location*) override {
    open_.push_back(site.category == Category::kTracing);
    if (open_.back()) Hear("begin");
  }
  void EndScope() override {
    if (open_.back()) Hear("end");
    open_.pop_back();
  }

 private:
  std::vector<bool> open_;
};

TEST(Tensor, RecordingAnOperationIsTracing) {
  static TracingListener& listener = *new TracingListener;
  const Tensor x = arange(3, DType::kF32), y = zeros({3}).requires_grad_();
  observe::observer = &listener;
  const Tensor loss = sum(x - y);
  EXPECT_THAT(listener.heard, ElementsAre("begin", "end", "begin", "end"));
  listener.heard.clear();
  loss.backward();  // records many operations
  EXPECT_THAT(listener.heard, ElementsAre("begin", "end"));
  observe::observer = nullptr;
}

int64_t Reads() { return counter_value("aten::_local_scalar_dense").value_or(0); }

TEST(Tensor, AConditionReadsTheValue) {
  const Tensor x = arange(3, DType::kF32);
  const int64_t before = Reads();
  EXPECT_FALSE(x[0] > 0.5);
  EXPECT_TRUE(x[1] > 0.5);
  EXPECT_TRUE(!any(zeros({2})));
  EXPECT_TRUE(x[2]);
  EXPECT_TRUE(full({1, 1}, NAN));
  EXPECT_EQ(Reads(), before + 5);
  EXPECT_THAT(MessageOf([&] { (void)bool(x); }),
              HasSubstr("Boolean value of Tensor with more than one value is ambiguous: f32[3]"));
  EXPECT_THAT(MessageOf([] { (void)bool(zeros({0})); }),
              HasSubstr("Boolean value of Tensor with no values is ambiguous"));
  EXPECT_THAT(MessageOf([] { (void)bool(Tensor()); }), HasSubstr("defined() tells"));
  EXPECT_TRUE(x.defined());
  EXPECT_FALSE(Tensor().defined());
}

// The language does not tell a conversion the line of its call. The tensor's is that of the
// condition.
TEST(Tensor, AConditionIsReadAtItsLine) {
  class Lines final : public Listener {
   public:
    void OnExecution(const observe::Execution& execution) override {
      Hear(fmt::format("{} {}", execution.cause, execution.stack[0].line()));
    }
  };
  static Lines& listener = *new Lines;
  const Tensor x = arange(3, DType::kF32);
  observe::observer = &listener;
  const uint32_t line = Where::current().line() + 1;
  if (x[0] > 0.5) ADD_FAILURE();
  observe::observer = nullptr;
  EXPECT_THAT(listener.heard, ElementsAre(fmt::format("value_access {}", line)));
}

TEST(Tensor, WhatTheHostCannotHoldIsAnErrorWithItsLine) {
  for (int64_t size : {int64_t{1} << 33, int64_t{1} << 50, int64_t{1} << 59})
    EXPECT_THAT(MessageOf([&] { arange(size).to_cpu(); }), HasSubstr("tensor_test.cc:")) << size;
  EXPECT_THAT(MessageOf([] {
                matmul(ones({1'000'000, 2}), ones({2, 1'000'000})).to_cpu();
              }),
              HasSubstr("tensor_test.cc:"));
}

TEST(Tensor, IsWrittenThroughItsViews) {
  Tensor x = zeros({2, 3});
  x.select(0, 1).add_(5);
  x.slice(1, 0, 1).fill_(7);
  EXPECT_THAT(Values(x), ElementsAre(7, 0, 0, 7, 5, 5));
  Tensor turned = x.t();
  turned.select(0, 2).copy_(arange(2, DType::kF32));
  EXPECT_THAT(Values(x), ElementsAre(7, 0, 0, 7, 5, 1));
  x.add_(1);
  EXPECT_THAT(Values(turned), ElementsAre(8, 8, 1, 6, 1, 2));
  EXPECT_THAT(Values(x.view({6}).slice(0, 1, 6, 2)), ElementsAre(1, 8, 2));
}

TEST(Tensor, KeepsViewsAcrossAStep) {
  Tensor x = zeros({2, 2});
  Tensor row = x.select(0, 0);
  x.add_(1);
  mark_step();
  row.add_(2);
  mark_step();
  EXPECT_THAT(Values(x), ElementsAre(3, 3, 1, 1));
}

TEST(Tensor, CannotBeWrittenWhereElementsShareMemory) {
  Tensor x = zeros({1, 2}).expand({3, 2});
  EXPECT_THAT(MessageOf([&] { x.add_(1); }), HasSubstr("share memory"));
}

TEST(Tensor, SaysWhatDoesNotFitAndWhere) {
  const Tensor a = zeros({2, 3}), b = zeros({2, 4});
  const std::string added = MessageOf([&] { a + b; });
  EXPECT_THAT(added, HasSubstr("aten::add(f32[2,3], f32[2,4])"));
  EXPECT_THAT(added, HasSubstr(fmt::format("tensor_test.cc:{}", __LINE__ - 2)));
  EXPECT_THAT(MessageOf([&] { matmul(a, b); }), HasSubstr("aten::mm(f32[2,3], f32[2,4])"));
  EXPECT_THAT(MessageOf([&] { a.select(1, 3); }), HasSubstr("index 3 is out of range"));
  EXPECT_THAT(MessageOf([&] { a.view({4, -1}); }), HasSubstr("[4, -1] do not fit [2, 3]"));
  EXPECT_THAT(MessageOf([&] { a.item(); }), HasSubstr("6 elements"));
  EXPECT_THAT(MessageOf([] { Device::Named("TPU:0"); }),
              ::testing::AllOf(HasSubstr("CPU:0"), HasSubstr("XLAPROF_DEVICE")));
}

TEST(Tensor, RandomNumbersDifferAndAreReproducible) {
  manual_seed(5);
  const Tensor a = rand({100}), b = rand({100});
  const std::vector<float> first = Values(a), second = Values(b);
  EXPECT_NE(first, second);
  for (float value : first) EXPECT_TRUE(value >= 0 && value < 1);
  manual_seed(5);
  EXPECT_EQ(Values(rand({100})), first);
  mark_step();
  EXPECT_NE(Values(rand({100})), first);
  const std::vector<float> normal = Values(randn({10000}));
  double sum = 0, squares = 0;
  for (float value : normal) sum += value, squares += value * value;
  EXPECT_NEAR(sum / 10000, 0, 0.05);
  EXPECT_NEAR(squares / 10000, 1, 0.1);
}

TEST(Tensor, FallbacksRunOnTheCpu) {
  const std::vector<float> numbers{3, 0, 1, 2};
  const Tensor x = Tensor::FromHost(std::span(numbers), {4});
  EXPECT_THAT(Values(nonzero(x)), ElementsAre(0, 2, 3));
  EXPECT_THAT(Values(masked_select(x, gt(x, 1))), ElementsAre(3, 2));
  EXPECT_THAT(Values(sort(x).values), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(topk(x, 2).values), ElementsAre(3, 2));
  EXPECT_THAT(Values(unique(cat(std::vector{x, x}))), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Values(histc(x, 2, 0, 4)), ElementsAre(2, 2));
  for (const char* op : {"aten::nonzero", "aten::masked_select", "aten::sort", "aten::topk"})
    EXPECT_GT(counter_value(op).value_or(0), 0) << op;
}

// Regression: the native backend took the rows of all batches for the columns of one transposed
// matrix, so keys of attention had wrong gradients.
TEST(Tensor, AViewOfTransposedBatchesIsMultiplied) {
  const Tensor x = arange(12, DType::kF32).view({2, 3, 2});
  const Tensor rows = x.permute({0, 2, 1}).view({4, 3});
  EXPECT_THAT(Values(matmul(rows, ones({3, 1}))), ElementsAre(6, 9, 24, 27));
  EXPECT_THAT(Values(matmul(x.permute({0, 2, 1}), ones({2, 3, 1}))), ElementsAre(6, 9, 24, 27));
}

// Regression: they were computed as doubles, which have 53 bits.
TEST(Tensor, FallbacksKeepAllDigitsOfWholeNumbers) {
  constexpr int64_t kLarge = (int64_t(1) << 60) + 1;
  const std::vector<int64_t> numbers{kLarge, kLarge + 1, kLarge, -kLarge};
  const Tensor x = Tensor::FromHost(std::span(numbers), {4});
  auto whole = [](const Tensor& tensor) {
    const HostTensor host = tensor.to_cpu();
    const auto values = host.values<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  };
  EXPECT_THAT(whole(unique(x)), ElementsAre(-kLarge, kLarge, kLarge + 1));
  EXPECT_THAT(whole(sort(x).values), ElementsAre(-kLarge, kLarge, kLarge, kLarge + 1));
  EXPECT_THAT(whole(topk(x, 2).values), ElementsAre(kLarge + 1, kLarge));
  EXPECT_THAT(whole(masked_select(x, gt(x, 0))), ElementsAre(kLarge, kLarge + 1, kLarge));
}

TEST(Tensor, FallbacksTakeWhatIsNoNumberForTheLargest) {
  const std::vector<float> numbers{2, NAN, 1, 3};
  const Tensor x = Tensor::FromHost(std::span(numbers), {4});
  EXPECT_THAT(Values(sort(x).values), ElementsAre(1, 2, 3, ::testing::IsNan()));
  EXPECT_THAT(Values(topk(x, 2).values), ElementsAre(::testing::IsNan(), 3));
  EXPECT_THAT(MessageOf([&] { histc(x, 0, 0, 1); }), HasSubstr("cannot have 0 bins"));
  EXPECT_THAT(MessageOf([&] { histc(x, 2, -INFINITY, 1); }), HasSubstr("cannot have 2 bins"));
  EXPECT_THAT(MessageOf([&] { histc(x, 2, 0, INFINITY); }), HasSubstr("cannot have 2 bins"));
}

}  // namespace
}  // namespace xlaprof::lazy
