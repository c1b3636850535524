#include "analyzers/impact.h"

#include <gtest/gtest.h>

#include "analyzers/kinds.h"

namespace xlaprof {
namespace {

constexpr RunLength kRun{.ns = 1'000'000'000};

// A measured finding that recurs in some steps, and whose remedy saves this part of the run.
Finding Saves(double share) {
  return {.needs_fixing = true,
          .per_step = 0.5,
          .cost_ns = 900'000'000,
          .saving_ns = int64_t(share * 1e9),
          .certainty = Certainty::kMeasured};
}

TEST(Severity, FollowsTheShareOfTheRunThatCanBeAvoided) {
  EXPECT_EQ(SeverityOf(Saves(0.51), kRun), Severity::kError);
  EXPECT_EQ(SeverityOf(Saves(0.49), kRun), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Saves(0.0011), kRun), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Saves(0.0009), kRun), Severity::kInfo);
}

TEST(Severity, IsInfoIfTheRuleAsksForNoChange) {
  Finding finding = Saves(0.9);
  finding.needs_fixing = false;
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kInfo);
}

TEST(Severity, IsAWarningForSomethingCheapInEveryStep) {
  Finding finding = Saves(0.0005);
  finding.per_step = 1;
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kWarning);
}

TEST(Severity, IsNoErrorIfItHasStoppedOrIsInferredOrWithoutASaving) {
  Finding finding = Saves(0.9);
  finding.reason = Reason{.state = State::kSettled};
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kWarning);
  finding.reason->state = State::kOngoing;
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kError);
  finding.certainty = Certainty::kInferred;
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kWarning);
  finding.certainty = Certainty::kMeasured;
  finding.saving_ns.reset();
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kWarning);
}

TEST(Severity, IsAWarningIfTheRunOrTheCostIsNotTimed) {
  EXPECT_EQ(SeverityOf(Saves(0.9), RunLength{}), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Saves(0.0005), RunLength{}), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Finding{.needs_fixing = true}, kRun), Severity::kWarning);
}

TEST(Severity, IsAnErrorWithoutACostIfTheProgramStops) {
  EXPECT_EQ(SeverityOf({.needs_fixing = true, .stops_program = true}, kRun), Severity::kError);
  EXPECT_EQ(SeverityOf({.needs_fixing = true, .stops_program = true}, RunLength{}),
            Severity::kError);
}

TEST(Severity, IsNoErrorInAPartOfTheRun) {
  EXPECT_EQ(SeverityOf(Saves(0.9), {.ns = kRun.ns, .is_part = true}), Severity::kWarning);
}

TEST(SavingInterval, IsWithinTheRunAndTheIdleTime) {
  Finding finding = Saves(0.6);
  SetIntervals(kRun, finding);
  EXPECT_EQ(finding.saving_interval_ns, std::pair(int64_t{300'000'000}, int64_t{900'000'000}));
  finding = Saves(0.8);
  SetIntervals(kRun, finding);
  EXPECT_EQ(finding.saving_interval_ns, std::pair(int64_t{400'000'000}, *kRun.ns));
  finding = Saves(0.8);
  finding.analyzer = &device_gap;
  SetIntervals(kRun, finding);
  EXPECT_EQ(finding.saving_interval_ns->second, *finding.cost_ns);
}

}  // namespace
}  // namespace xlaprof
