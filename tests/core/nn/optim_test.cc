// Tests optimizers against their formulas, written out in f64.
#include "core/nn/optim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/metrics/metrics.h"
#include "core/nn/clip_grad.h"
#include "core/nn/lr_scheduler.h"
#include "core/nn/nn.h"
#include "core/nn/sequential.h"
#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

constexpr int kSteps = 12;
const std::vector<double> kFirst{0.5, -1, 2};

std::vector<double> GradientOf(int step) {
  return {std::sin(step + 1.), 0.1 * step - 0.4, 3 * std::cos(2. * step)};
}

// Returns the weights after each step with `optimizer`. Each step is computed, so that the
// optimizer's state goes through the device's memory.
std::vector<std::vector<double>> Train(const Tensor& weights, optim::Optimizer& optimizer) {
  std::vector<std::vector<double>> seen;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> gradient = GradientOf(step);
    optimizer.zero_grad();
    sum(weights * Tensor::FromHost(std::span(gradient), {3})).backward();
    optimizer_step(optimizer, /*barrier=*/true);
    const HostTensor host = weights.to_cpu();
    const auto values = host.values<double>();
    seen.emplace_back(values.begin(), values.end());
  }
  return seen;
}

// Compares with `update`, which gets the weight's number, the step from 1 and the gradient, and
// changes the weight.
template <class Update>
void ExpectFormula(const std::vector<std::vector<double>>& seen, Update&& update) {
  std::vector<double> weights = kFirst;
  for (int step = 0; step < kSteps; ++step) {
    const std::vector<double> gradient = GradientOf(step);
    for (size_t i = 0; i < weights.size(); ++i) {
      update(i, step + 1, gradient[i], weights[i]);
      EXPECT_NEAR(seen[size_t(step)][i], weights[i], 1e-14) << "weight " << i << ", step " << step;
    }
  }
}

Tensor First() { return Tensor::FromHost(std::span(kFirst), {3}).requires_grad_(); }

TEST(Optimizer, SgdFollowsItsFormula) {
  const Tensor weights = First();
  optim::SGD optimizer({weights}, /*lr=*/0.1);
  ExpectFormula(Train(weights, optimizer),
                [](size_t, int, double gradient, double& weight) { weight -= 0.1 * gradient; });
}

TEST(Optimizer, MomentumFollowsItsFormula) {
  const Tensor weights = First();
  optim::SGD optimizer({weights}, /*lr=*/0.1, /*momentum=*/0.9);
  std::vector<double> velocity(3, 0);
  ExpectFormula(Train(weights, optimizer), [&](size_t i, int, double gradient, double& weight) {
    velocity[i] = 0.9 * velocity[i] + gradient;
    weight -= 0.1 * velocity[i];
  });
}

TEST(Optimizer, NesterovAndWeightDecayFollowTheirFormula) {
  const Tensor weights = First();
  optim::SGD optimizer({weights},
                       {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.2, .nesterov = true});
  std::vector<double> velocity(3, 0);
  ExpectFormula(Train(weights, optimizer), [&](size_t i, int, double gradient, double& weight) {
    const double slope = gradient + 0.2 * weight;
    velocity[i] = 0.9 * velocity[i] + slope;
    weight -= 0.1 * (slope + 0.9 * velocity[i]);
  });
}

TEST(Optimizer, DampeningBeginsWithTheSecondGradient) {
  const Tensor weights = First();
  optim::SGD optimizer({weights}, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5});
  std::vector<double> velocity(3, 0);
  ExpectFormula(Train(weights, optimizer),
                [&](size_t i, int step, double gradient, double& weight) {
                  velocity[i] = step == 1 ? gradient : 0.9 * velocity[i] + 0.5 * gradient;
                  weight -= 0.1 * velocity[i];
                });
}

// Returns the update of Adam, with weight decay in the gradients or apart from them.
auto AdamUpdate(double decay, double decoupled_decay, double beta2) {
  return [=, mean = std::vector<double>(3, 0), square = std::vector<double>(3, 0)](
             size_t i, int step, double gradient, double& weight) mutable {
    weight *= 1 - 0.1 * decoupled_decay;
    gradient += decay * weight;
    mean[i] = 0.9 * mean[i] + 0.1 * gradient;
    square[i] = beta2 * square[i] + (1 - beta2) * gradient * gradient;
    const double true_mean = mean[i] / (1 - std::pow(0.9, step));
    const double true_square = square[i] / (1 - std::pow(beta2, step));
    weight -= 0.1 * true_mean / (std::sqrt(true_square) + 1e-8);
  };
}

TEST(Optimizer, WeightDecayOfAdamIsPartOfTheGradient) {
  const Tensor weights = First();
  optim::Adam optimizer({weights}, {.lr = 0.1, .weight_decay = 0.3});
  ExpectFormula(Train(weights, optimizer), AdamUpdate(0.3, 0, 0.999));
}

TEST(Optimizer, WeightDecayOfAdamWIsApart) {
  for (const std::optional<double> decay : {std::optional<double>(), std::optional(0.3)}) {
    const Tensor weights = First();
    optim::AdamW optimizer({weights}, {.lr = 0.1, .weight_decay = decay});
    ExpectFormula(Train(weights, optimizer), AdamUpdate(0, decay.value_or(0.01), 0.999));
  }
}

TEST(Optimizer, GroupsHaveTheirOwnRateAndDecay) {
  const Tensor weight = ones({1}).requires_grad_(), bias = ones({1}).requires_grad_();
  optim::SGD optimizer({weight}, {.lr = 0.1, .weight_decay = 0.5});
  optimizer.add_param_group({bias}, {.lr = 0.01, .weight_decay = 0});
  sum(weight * 2 + bias * 3).backward();
  optimizer_step(optimizer, /*barrier=*/true);
  EXPECT_FLOAT_EQ(Values(weight)[0], 1 - 0.1f * (2 + 0.5f));
  EXPECT_FLOAT_EQ(Values(bias)[0], 1 - 0.01f * 3);
  EXPECT_THAT(MessageOf([&] { optimizer.add_param_group({bias}); }),
              ::testing::HasSubstr("the same parameter twice: f32[1]"));
}

// Also 0, 1 and rates that are equal to another number of the optimizer.
TEST(Optimizer, ANewLearningRateIsNotANewGraph) {
  Tensor weights = ones({2}).requires_grad_();
  auto graphs_of = [&](optim::Optimizer& optimizer) {
    int64_t graphs = 0;
    for (const double lr : {0.1, 0.1, 0.05, 1., 0.9, 0., 0.01, 0.2}) {
      optimizer.param_groups[0].lr = lr;
      optimizer.zero_grad();
      sum(weights * weights).backward();
      const int64_t before = num_cached_graphs();
      optimizer_step(optimizer, /*barrier=*/true);
      if (lr != 0.1) graphs += num_cached_graphs() - before;
    }
    return graphs;
  };
  optim::SGD sgd({weights}, {.momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
  EXPECT_EQ(graphs_of(sgd), 0);
  optim::AdamW adam({weights}, {.weight_decay = 0.2});
  EXPECT_EQ(graphs_of(adam), 0);
}

TEST(Optimizer, ItsStepDonatesWhatItReplaces) {
  Tensor weights = ones({200, 300}).requires_grad_();
  const auto donated_by = [&](optim::Optimizer& optimizer) {
    for (int step = 0; step < 3; ++step) {
      optimizer.zero_grad();
      sum(weights * weights).backward();
      optimizer.step();
      optimizer.zero_grad();
      sync(/*wait=*/true);
    }
    return metric_data("InputOutputAliasCount")->samples.back().value;
  };
  optim::SGD sgd({weights}, {.momentum = 0.9, .nesterov = true});
  EXPECT_EQ(donated_by(sgd), 2);  // weights and momentum_buffer
  optim::AdamW adam({weights});
  EXPECT_EQ(donated_by(adam), 4);  // weights, exp_avg, exp_avg_sq and step
}

// The values are those of torch 2.9. In bf16, 0.9 and 0.999 would become 0.8984 and 1.
TEST(Optimizer, NarrowParametersAreUpdatedInF32) {
  auto train = [](auto make) {
    const Tensor weights =
        Tensor::FromHost(std::span(kFirst), {3}).to(DType::kBF16).requires_grad_();
    auto optimizer = make(weights);
    for (int step = 0; step < 8; ++step) {
      const std::vector<double> gradient = GradientOf(step);
      optimizer.zero_grad();
      sum(weights * Tensor::FromHost(std::span(gradient), {3}).to(DType::kBF16)).backward();
      optimizer_step(optimizer, /*barrier=*/true);
    }
    return Values(weights);
  };
  constexpr float kUlp = 0x1p-8f;  // of the largest value is twice this
  using ::testing::FloatNear;
  using ::testing::Pointwise;
  EXPECT_THAT(
      train([](const Tensor& weights) {
        return optim::SGD({weights}, {.lr = 0.03, .momentum = 0.9, .weight_decay = 0.1});
      }),
      Pointwise(FloatNear(2 * kUlp), std::vector<float>{0.306640625f, -0.78515625f, 1.546875f}));
  EXPECT_THAT(
      train([](const Tensor& weights) { return optim::AdamW({weights}, {.lr = 0.03}); }),
      Pointwise(FloatNear(2 * kUlp), std::vector<float>{0.40625f, -0.8359375f, 1.9296875f}));
}

TEST(Optimizer, RefusesWrongOptions) {
  const Tensor weights = First();
  auto sgd = [&](optim::SGDOptions options) {
    return MessageOf([&] { optim::SGD({weights}, options); });
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(sgd({.lr = -1}), HasSubstr("lr is -1, but it must be at least 0"));
  EXPECT_THAT(sgd({.momentum = -1}), HasSubstr("momentum is -1"));
  EXPECT_THAT(sgd({.weight_decay = std::nan("")}), HasSubstr("weight_decay is nan"));
  EXPECT_THAT(sgd({.nesterov = true}), HasSubstr("nesterov needs a momentum"));
  EXPECT_THAT(sgd({.momentum = 0.9, .dampening = 0.1, .nesterov = true}), HasSubstr("nesterov"));
  EXPECT_THAT(MessageOf([&] { optim::Adam({weights}, {.beta2 = 1}); }),
              HasSubstr("beta2 is 1, but it must be at least 0 and less than 1"));
  const auto empty = [] { optim::AdamW({}, 0.1); };
  const int line = __LINE__ - 1;
  EXPECT_THAT(MessageOf(empty),
              HasSubstr(fmt::format("has no parameters\n  at {}:{}", __FILE__, line)));
}

TEST(Optimizer, AdamFollowsItsFormula) {
  const Tensor weights = First();
  optim::Adam optimizer({weights}, {.lr = 0.1, .beta2 = 0.99});
  ExpectFormula(Train(weights, optimizer), AdamUpdate(0, 0, 0.99));
}

// --- states ---

// Trains a network whose second layer has gradients only from step 2 on.
struct Trainee {
  nn::Sequential net{nn::Linear(3, 4), nn::GELU(), nn::Linear(4, 4), nn::LayerNorm(4)};
  nn::Linear late{4, 2};
  std::unique_ptr<optim::Optimizer> optimizer;
  std::unique_ptr<optim::CosineAnnealingLR> scheduler;

  explicit Trainee(bool is_adam) {
    std::vector<Tensor> params = net.parameters();
    for (const Tensor& param : late.parameters()) params.push_back(param);
    if (is_adam) {
      optimizer = std::make_unique<optim::AdamW>(params, optim::AdamOptions{.lr = 0.1});
    } else {
      optimizer = std::make_unique<optim::SGD>(params, 0.1, /*momentum=*/0.9);
    }
    scheduler = std::make_unique<optim::CosineAnnealingLR>(*optimizer, 10);
  }

  double Step(int step) {
    std::vector<float> values(15);
    for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(float(i * i) + float(step));
    const Tensor x = Tensor::FromHost(std::span<const float>(values), {5, 3});
    optimizer->zero_grad();
    const Tensor out = net(x);
    const Tensor loss =
        step < 2 ? mean(out * out) + mean(out) : cross_entropy(late(out), arange(5) * 0);
    loss.backward();
    nn::clip_grad_norm_(optimizer->param_groups[0].params, 0.5);
    optimizer_step(*optimizer, /*barrier=*/true);
    scheduler->step();
    return loss.item();
  }
};

TEST(OptimizerState, ResumedTrainingIsTheSameToTheBit) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "resumed";
  std::filesystem::create_directories(folder);
  for (const bool is_adam : {false, true}) {
    nn::manual_seed(3);
    Trainee whole(is_adam);
    nn::manual_seed(3);
    Trainee begun(is_adam);
    std::vector<double> expected, seen;
    for (int step = 0; step < 10; ++step) expected.push_back(whole.Step(step));
    for (int step = 0; step < 5; ++step) seen.push_back(begun.Step(step));
    save(begun.net.state_dict(), folder / "net.safetensors");
    save(begun.late.state_dict(), folder / "late.safetensors");
    save(begun.optimizer->state_dict(), folder / "optimizer.safetensors");
    save(begun.scheduler->state_dict(), folder / "scheduler.safetensors");
    Trainee resumed(is_adam);
    resumed.net.load_state_dict(load(folder / "net.safetensors"));
    resumed.late.load_state_dict(load(folder / "late.safetensors"));
    resumed.optimizer->load_state_dict(load(folder / "optimizer.safetensors"));
    resumed.scheduler->load_state_dict(load(folder / "scheduler.safetensors"));
    for (int step = 5; step < 10; ++step) seen.push_back(resumed.Step(step));
    EXPECT_EQ(seen, expected);
    EXPECT_EQ(resumed.optimizer->param_groups[0].lr, whole.optimizer->param_groups[0].lr);
    EXPECT_NE(seen[9], seen[5]);
  }
}

TEST(OptimizerState, NamesEachParameterThatHadAGradient) {
  Trainee trainee(/*is_adam=*/true);
  trainee.Step(0);
  const State state = trainee.optimizer->state_dict();
  EXPECT_TRUE(state.contains("state.0.exp_avg") && state.contains("state.5.exp_avg_sq"));
  EXPECT_FALSE(state.contains("state.6.step"));
  EXPECT_EQ(state.at("state.5.step").item(), 1);
  EXPECT_EQ(state.at("param_groups.0.weight_decay").item(), 0.01);
  EXPECT_EQ(state.size(), 6 * 3 + 2u);
}

TEST(OptimizerState, OfAnotherOptimizerIsRefused) {
  Trainee trainee(/*is_adam=*/true);
  trainee.Step(0);
  State state = trainee.optimizer->state_dict();
  state["state.0.exp_avg"] = ones({3});
  state.erase("state.1.step");
  state.erase("param_groups.0.lr");
  state["state.8.exp_avg"] = ones({3});
  const double before = trainee.optimizer->param_groups[0].lr;
  const std::string message = MessageOf([&] { trainee.optimizer->load_state_dict(state); });
  using ::testing::HasSubstr;
  EXPECT_THAT(message, HasSubstr("state.0.exp_avg has sizes [3], not [4, 3]"));
  EXPECT_THAT(message, HasSubstr("state.1.step is missing"));
  EXPECT_THAT(message, HasSubstr("param_groups.0.lr is missing"));
  EXPECT_THAT(message, HasSubstr("state.8.exp_avg is not part of it"));
  EXPECT_EQ(trainee.optimizer->param_groups[0].lr, before);
  EXPECT_EQ(trainee.optimizer->state_dict().at("state.1.step").item(), 1);
  Trainee sgd(/*is_adam=*/false);
  EXPECT_THAT(MessageOf([&] { sgd.optimizer->load_state_dict(trainee.optimizer->state_dict()); }),
              HasSubstr("state.0.momentum_buffer is missing"));
}

// A load takes copies: later steps of one optimizer do not change the other.
TEST(OptimizerState, IsCopiedByALoad) {
  Trainee from(/*is_adam=*/false), to(/*is_adam=*/false);
  from.Step(0);
  to.optimizer->load_state_dict(from.optimizer->state_dict());
  const std::vector<float> before =
      Values(to.optimizer->state_dict().at("state.0.momentum_buffer"));
  from.Step(1);
  EXPECT_EQ(Values(to.optimizer->state_dict().at("state.0.momentum_buffer")), before);
}

TEST(Optimizer, LeavesAloneWhatHasNoGradient) {
  Tensor used = ones({2}).requires_grad_();
  const Tensor unused = ones({2}).requires_grad_();
  optim::Adam optimizer({unused, used}, 0.1);
  sum(used * 2).backward();
  optimizer_step(optimizer, /*barrier=*/true);
  EXPECT_EQ(unused.to_cpu().values<float>()[0], 1);
  EXPECT_NE(used.to_cpu().values<float>()[0], 1);
}

TEST(Optimizer, MarksTheStepOfItsParametersDevice) {
  static Device& device = *new Device("NULL:0", MakeNullBackend());
  Tensor weights = ones({2}, DType::kF32, device).requires_grad_();
  mark_step(device);
  optim::SGD optimizer({weights}, 0.1);
  sum(weights * 2).backward();
  const int64_t before = num_cached_graphs(device);
  optimizer_step(optimizer, /*barrier=*/true);
  EXPECT_EQ(num_cached_graphs(device), before + 1);
}

}  // namespace
}  // namespace xlaprof::lazy
