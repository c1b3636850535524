#include "core/nn/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/metrics/metrics.h"
#include "core/nn/nn.h"
#include "core/nn/optim.h"
#include "core/nn/sequential.h"
#include "core/observe/observer.h"
#include "tests/core/observe/listener.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Key;

struct Pair : nn::Module {
  nn::Linear first{2, 2}, second{2, 2};
  explicit Pair(Device& device = Device::Default()) : first(2, 2, device), second(2, 2, device) {}
  std::vector<nn::Part> parts() override { return {{"first", first}, {"second", second}}; }
  Tensor operator()(const Tensor& x) const { return second(relu(first(x))); }
};

struct Normed : nn::Module {
  Pair pair;
  nn::BatchNorm2d norm{3};
  nn::Dropout dropout;
  std::vector<nn::Part> parts() override {
    return {{"pair", pair}, {"norm", norm}, {"dropout", dropout}};
  }
};

bool AreTied(const Tensor& a, const Tensor& b) { return a.impl() == b.impl(); }

TEST(Module, NamesWhatIsInIt) {
  Normed net;
  EXPECT_THAT(net.state_dict(),
              ElementsAre(Key("norm.bias"), Key("norm.running_mean"), Key("norm.running_var"),
                          Key("norm.weight"), Key("pair.first.bias"), Key("pair.first.weight"),
                          Key("pair.second.bias"), Key("pair.second.weight")));
  EXPECT_EQ(net.parameters().size(), 6u);  // without the running statistics
  net.pair.second.weight = net.pair.first.weight;
  EXPECT_EQ(net.parameters().size(), 5u);
  net.eval();
  EXPECT_FALSE(net.norm.training || net.dropout.training || net.pair.first.training);
  net.train();
  EXPECT_TRUE(net.norm.training && net.dropout.training);
}

TEST(Module, MovesToADevice) {
  Pair net(Device::Host());
  const std::vector<float> before = Values(net.first.weight);
  net.to(Device::Default());
  EXPECT_EQ(&net.first.weight.device(), &Device::Default());
  EXPECT_TRUE(net.first.weight.requires_grad());
  EXPECT_EQ(Values(net.first.weight), before);
  const Tensor loss = sum(net(ones({1, 2})));
  loss.backward();
  EXPECT_TRUE(net.first.weight.grad().defined());
  const Tensor same = net.first.weight;
  net.to(Device::Default());
  EXPECT_TRUE(AreTied(same, net.first.weight));  // it was on the device already
}

TEST(Module, WeightsTiedBeforeAMoveBecomeTwo) {
  struct Untied final : Listener {
    void OnUntied(const observe::Untied& untied) override {
      Hear(fmt::format("{} of {} bytes on {} at line {}", fmt::join(untied.names, " "),
                       untied.bytes, untied.device, untied.stack.front().line()));
    }
  };
  static Untied& listener = *new Untied;
  const int64_t counted = counter_value("UntiedParameters").value_or(0);
  Pair net(Device::Host());
  net.second.weight = net.first.weight;
  observe::observer = &listener;
  const int line = __LINE__ + 1;
  net.to(Device::Default());
  observe::observer = nullptr;
  EXPECT_FALSE(AreTied(net.first.weight, net.second.weight));
  EXPECT_EQ(Values(net.first.weight), Values(net.second.weight));
  EXPECT_EQ(counter_value("UntiedParameters").value_or(0) - counted, 1);
  EXPECT_THAT(listener.heard,
              ElementsAre(fmt::format("first.weight second.weight of 16 bytes on {} at line {}",
                                      Device::Default().name(), line)));

  net.second.weight = net.first.weight;  // tied after the move: one tensor, trained by both uses
  net.to(Device::Default());
  EXPECT_TRUE(AreTied(net.first.weight, net.second.weight));
  EXPECT_EQ(counter_value("UntiedParameters").value_or(0) - counted, 1);
}

TEST(Module, ACopyHasTheSameTensorsADeepCopyItsOwn) {
  Pair net;
  net.second.weight = net.first.weight;
  const Pair shallow = net;
  EXPECT_TRUE(AreTied(shallow.first.weight, net.first.weight));
  Pair deep = deepcopy(net);
  EXPECT_FALSE(AreTied(deep.first.weight, net.first.weight));
  EXPECT_TRUE(AreTied(deep.first.weight, deep.second.weight));
  EXPECT_TRUE(deep.first.weight.requires_grad());
  const std::vector<float> before = Values(net.first.weight);
  optim::SGD optimizer(net.parameters(), /*lr=*/1);
  for (int i = 0; i < 2; ++i) {  // the second step reuses the first one's memory
    optimizer.zero_grad();
    const Tensor loss = sum(net(ones({1, 2})) + net.first.bias);
    loss.backward();
    optimizer_step(optimizer, /*barrier=*/true);
  }
  EXPECT_NE(Values(net.first.bias), Values(deep.first.bias));
  EXPECT_EQ(Values(deep.first.weight), before);
}

TEST(Tensor, DeepCopiesAreDeep) {
  Tensor x = ones({2}).requires_grad_();
  sum(x * 3).backward();
  const Tensor copy = deepcopy(x);
  EXPECT_EQ(Values(copy.grad()), (std::vector<float>{3, 3}));
  {
    NoGrad no_grad;
    x.add_(1);
    x.grad().add_(1);
  }
  mark_step();
  EXPECT_EQ(Values(copy), (std::vector<float>{1, 1}));
  EXPECT_EQ(Values(copy.grad()), (std::vector<float>{3, 3}));
  EXPECT_THAT(MessageOf([&] { deepcopy(x * 2); }), HasSubstr("detach() it first"));
}

TEST(Tensor, GradientsFlowThroughAMove) {
  const Tensor x = full({2}, 3, DType::kF32, Device::Host()).requires_grad_();
  const Tensor there = x.to(Device::Default());
  sum(there * there).backward();
  EXPECT_EQ(&x.grad().device(), &Device::Host());
  EXPECT_EQ(Values(x.grad()), (std::vector<float>{6, 6}));
}

TEST(Tensor, OfTwoDevicesIsNotComputedWith) {
  const Tensor here = ones({2}), there = ones({2}, DType::kF32, Device::Host());
  const std::string message = MessageOf([&] { here + there; });
  EXPECT_THAT(message, HasSubstr("aten::add"));
  EXPECT_THAT(message, HasSubstr(Device::Default().name() + " and cpu"));
  EXPECT_THAT(message, HasSubstr(fmt::format("module_test.cc:{}", __LINE__ - 3)));
}

TEST(Module, ConvertsInPlace) {
  Normed net;
  net.pair.second.weight = net.pair.first.weight;
  const Tensor held = net.pair.first.weight;
  const std::vector<float> before = Values(held);
  Tensor recorded = sum(held * 2);
  sum(held * 2).backward();
  net.to(DType::kBF16);
  EXPECT_EQ(held.dtype(), DType::kBF16);
  EXPECT_TRUE(AreTied(held, net.pair.first.weight));
  EXPECT_TRUE(AreTied(held, net.pair.second.weight));
  EXPECT_TRUE(held.requires_grad());
  EXPECT_EQ(held.grad().dtype(), DType::kBF16);
  EXPECT_EQ(Values(held.grad()), (std::vector<float>{2, 2, 2, 2}));
  EXPECT_EQ(net.norm.running_var.dtype(), DType::kBF16);
  EXPECT_NEAR(Values(held)[0], before[0], 0x1p-8);
  EXPECT_EQ(recorded.dtype(), DType::kF32);
  EXPECT_NEAR(recorded.item(), 2 * (before[0] + before[1] + before[2] + before[3]), 1e-6);

  sum(net.pair(ones({1, 2}, DType::kBF16))).backward();  // adds to the converted gradients
  mark_step();
  EXPECT_EQ(net.pair.first.bias.grad().dtype(), DType::kBF16);
  const std::string message = MessageOf([&] { net.to(DType::kI64); });
  EXPECT_THAT(message, HasSubstr("Module::to(int64): the type must be one of floating-point"));
}

TEST(Module, MovesAndConverts) {
  Pair net(Device::Host());
  net.to(Device::Default(), DType::kF16);
  EXPECT_EQ(&net.first.weight.device(), &Device::Default());
  EXPECT_EQ(net.first.weight.dtype(), DType::kF16);
}

TEST(Sequential, HoldsModulesByNumber) {
  nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), nn::Sequential(nn::Linear(3, 3)), Normed().pair);
  net.push_back(nn::Dropout());
  EXPECT_THAT(net.state_dict(),
              ElementsAre(Key("0.bias"), Key("0.weight"), Key("2.0.bias"), Key("2.0.weight"),
                          Key("3.first.bias"), Key("3.first.weight"), Key("3.second.bias"),
                          Key("3.second.weight")));
  net.eval();
  EXPECT_FALSE(net.at<nn::Dropout>(4).training);
  EXPECT_THAT(MessageOf([&] { net.at<nn::ReLU>(0); }), HasSubstr("module 0 of the Sequential"));
  EXPECT_THAT(MessageOf([&] { net.at(5); }), HasSubstr("module 5 of a Sequential of 5"));
}

TEST(Sequential, CallsModulesInTurn) {
  const nn::Sequential net(nn::Linear(2, 3), nn::ReLU(), Pair().second, nn::Sequential());
  nn::Sequential layers = net;  // the copy has the same tensors
  nn::Linear& first = layers.at<nn::Linear>(0);
  first = nn::Linear(2, 2);
  const Tensor x = ones({1, 2});
  const Tensor expected = layers.at<nn::Linear>(2)(relu(first(x)));
  EXPECT_EQ(Values(layers(x)), Values(expected));
  // Replacing a module of the copy changed nothing in the original.
  const std::string message = MessageOf([&] { net(x); });
  EXPECT_THAT(message, HasSubstr("aten::mm(f32[1,3], f32[2,2])"));
  EXPECT_THAT(message, HasSubstr(fmt::format("module_test.cc:{}", __LINE__ - 2)));
}

TEST(Sequential, HasModulesThatChange) {
  nn::Sequential net(nn::Flatten(), nn::Linear(4, 3));
  nn::Sequential images(nn::BatchNorm2d(1), nn::MaxPool2d(2), net);
  nn::Sequential copy = deepcopy(images);
  images(rand({2, 1, 4, 4}));
  EXPECT_NE(Values(images.state_dict().at("0.running_mean")), (std::vector<float>{0}));
  EXPECT_EQ(Values(copy.state_dict().at("0.running_mean")), (std::vector<float>{0}));
  EXPECT_TRUE(
      AreTied(images.at<nn::Sequential>(2).at<nn::Linear>(1).weight, net.at<nn::Linear>(1).weight));
}

TEST(ModuleList, HoldsModulesByNumber) {
  nn::ModuleList<Pair> list({Pair(), Pair()});
  list.push_back(deepcopy(list[0]));
  EXPECT_EQ(list.parameters().size(), 12u);
  EXPECT_TRUE(list.state_dict().contains("2.second.bias"));
  Tensor x = ones({1, 2});
  for (const Pair& pair : list) x = pair(x);
  EXPECT_EQ(x.sizes(), (Dims{1, 2}));
}

TEST(Module, LoadsAStateInPlace) {
  Pair from, to;
  to.second.weight = to.first.weight;
  from.second.weight = from.first.weight;
  const Tensor held = to.first.weight;
  to.load_state_dict(from.state_dict());
  EXPECT_EQ(Values(held), Values(from.first.weight));
  EXPECT_TRUE(AreTied(to.first.weight, to.second.weight));

  State state = from.state_dict();
  state["third.weight"] = state.extract("first.weight").mapped();
  state["second.bias"] = ones({3});
  const std::vector<float> before = Values(to.first.bias);
  const std::string message = MessageOf([&] { to.load_state_dict(state); });
  EXPECT_THAT(message, HasSubstr("first.weight is missing"));
  EXPECT_THAT(message, HasSubstr("second.bias has sizes [3], not [2]"));
  EXPECT_THAT(message, HasSubstr("third.weight is not part of it"));
  EXPECT_EQ(Values(to.first.bias), before);
}

}  // namespace
}  // namespace xlaprof::lazy
