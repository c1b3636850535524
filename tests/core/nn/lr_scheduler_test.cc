// Tests learning-rate schedulers against torch 2.9, whose values these are.
#include "core/nn/lr_scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/core/trace/values.h"

namespace xlaprof::lazy {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

class LRSchedulers : public testing::Test {
 protected:
  double lr() const { return optimizer_.param_groups[0].lr; }
  // Returns the rate of epoch 0 and of `epochs` more.
  template <class Scheduler>
  std::vector<double> Rates(Scheduler&& scheduler, int epochs) {
    std::vector<double> rates{lr()};
    for (int i = 0; i < epochs; ++i) {
      scheduler.step();
      rates.push_back(lr());
      EXPECT_EQ(scheduler.get_last_lr(), std::vector{lr()});
    }
    return rates;
  }
  static auto Are(std::vector<double> expected) {
    return Pointwise(DoubleNear(1e-16), std::move(expected));
  }

  optim::SGD optimizer_{{ones({1}).requires_grad_()}, 0.1};
};

TEST_F(LRSchedulers, StepLR) {
  EXPECT_THAT(Rates(optim::StepLR(optimizer_, 3), 9),
              Are({0.1, 0.1, 0.1, 0.010000000000000002, 0.010000000000000002, 0.010000000000000002,
                   0.0010000000000000002, 0.0010000000000000002, 0.0010000000000000002,
                   0.00010000000000000003}));
}

TEST_F(LRSchedulers, MultiStepLR) {
  EXPECT_THAT(Rates(optim::MultiStepLR(optimizer_, {2, 4, 4, 7}, 0.5), 9),
              Are({0.1, 0.1, 0.05, 0.05, 0.0125, 0.0125, 0.0125, 0.00625, 0.00625, 0.00625}));
}

TEST_F(LRSchedulers, LinearLR) {
  EXPECT_THAT(Rates(optim::LinearLR(optimizer_), 7),
              Are({0.03333333333333333, 0.04666666666666667, 0.060000000000000005,
                   0.07333333333333335, 0.08666666666666668, 0.1, 0.1, 0.1}));
}

TEST_F(LRSchedulers, LinearLRWithOptions) {
  EXPECT_THAT(Rates(optim::LinearLR(optimizer_, 0.01, 0.5, 4), 6),
              Are({0.001, 0.01325, 0.0255, 0.03775, 0.05, 0.05, 0.05}));
}

TEST_F(LRSchedulers, CosineAnnealingLR) {
  EXPECT_THAT(Rates(optim::CosineAnnealingLR(optimizer_, 5, 0.01), 13),
              Are({0.1, 0.09140576474687263, 0.06890576474687263, 0.04109423525312736,
                   0.018594235253127367, 0.01, 0.018594235253127367, 0.04109423525312739,
                   0.06890576474687267, 0.09140576474687269, 0.10000000000000006,
                   0.09140576474687272, 0.06890576474687268, 0.0410942352531274}));
}

TEST_F(LRSchedulers, LambdaLR) {
  optim::LambdaLR scheduler(optimizer_,
                            [](int64_t epoch) { return std::pow(0.95, double(epoch)); });
  EXPECT_THAT(Rates(scheduler, 5),
              Are({0.1, 0.095, 0.09025, 0.0857375, 0.081450625, 0.07737809374999999}));
}

TEST_F(LRSchedulers, AreSteppedInTurn) {
  optim::LinearLR warm_up(optimizer_, 0.5, 1, 2);
  optim::StepLR steps(optimizer_, 2);
  std::vector<double> rates{lr()};
  for (int i = 0; i < 5; ++i) {
    warm_up.step(), steps.step();
    rates.push_back(lr());
  }
  EXPECT_THAT(rates, Are({0.05, 0.07500000000000001, 0.010000000000000002, 0.010000000000000002,
                          0.0010000000000000002, 0.0010000000000000002}));
}

TEST_F(LRSchedulers, ReduceLROnPlateau) {
  auto rates = [&](optim::ReduceLROnPlateauOptions options, const std::vector<double>& metrics) {
    optimizer_.param_groups[0].lr = 0.1;
    auto scheduler = std::make_unique<optim::ReduceLROnPlateau>(optimizer_, options);
    std::vector<double> all{lr()};
    for (const double metric : metrics) {
      scheduler->step(metric);
      all.push_back(lr());
      // Another one with its state goes on in its place.
      const State state = scheduler->state_dict();
      scheduler = std::make_unique<optim::ReduceLROnPlateau>(optimizer_, options);
      scheduler->load_state_dict(state);
    }
    return all;
  };
  EXPECT_THAT(rates({.factor = 0.5, .patience = 1, .cooldown = 1, .min_lr = 0.02},
                    {1, .9, .9, .9, .9, .9, .9, .95, .9, .9, .9, .9}),
              Are({0.1, 0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.025, 0.025, 0.025, 0.02, 0.02, 0.02}));
  EXPECT_THAT(rates({.mode = optim::ReduceLROnPlateauOptions::kMax,
                     .patience = 0,
                     .threshold = 0.1,
                     .threshold_mode = optim::ReduceLROnPlateauOptions::kAbs},
                    {1, 1.05, 1.2, 1.2, 2}),
              Are({0.1, 0.1, 0.010000000000000002, 0.010000000000000002, 0.0010000000000000002,
                   0.0010000000000000002}));
}

TEST_F(LRSchedulers, EachGroupHasItsRate) {
  optimizer_.add_param_group({ones({1}).requires_grad_()}, {.lr = 1});
  optim::StepLR scheduler(optimizer_, 1, 0.5);
  scheduler.step();
  EXPECT_EQ(optimizer_.param_groups[0].lr, 0.05);
  EXPECT_EQ(optimizer_.param_groups[1].lr, 0.5);
}

TEST_F(LRSchedulers, GoOnFromAState) {
  auto rates_after = [&](optim::CosineAnnealingLR& scheduler) { return Rates(scheduler, 3); };
  optim::CosineAnnealingLR scheduler(optimizer_, 5);
  Rates(scheduler, 4);
  const State state = scheduler.state_dict();
  const std::vector<double> expected = rates_after(scheduler);
  optimizer_.param_groups[0].lr = 7;
  optim::CosineAnnealingLR resumed(optimizer_, 5);
  resumed.load_state_dict(state);
  EXPECT_EQ(rates_after(resumed), expected);
  EXPECT_THAT(
      MessageOf([&] {
        resumed.load_state_dict({{"last_epoch", ones({2})}});
      }),
      AllOf(HasSubstr("last_epoch has sizes [2], not [1]"), HasSubstr("base_lrs is missing")));
}

TEST_F(LRSchedulers, RefuseWrongOptions) {
  EXPECT_THAT(MessageOf([&] { optim::StepLR(optimizer_, 0); }), HasSubstr("step_size is 0"));
  EXPECT_THAT(MessageOf([&] { optim::CosineAnnealingLR(optimizer_, 0); }), HasSubstr("T_max is 0"));
  EXPECT_THAT(MessageOf([&] { optim::LinearLR(optimizer_, 0); }), HasSubstr("start_factor is 0"));
  EXPECT_THAT(MessageOf([&] { optim::LinearLR(optimizer_, 1, 2); }), HasSubstr("end_factor is 2"));
  EXPECT_THAT(MessageOf([&] { optim::ReduceLROnPlateau(optimizer_, {.factor = 1}); }),
              HasSubstr("factor is 1"));
  EXPECT_EQ(lr(), 0.1);
}

}  // namespace
}  // namespace xlaprof::lazy
