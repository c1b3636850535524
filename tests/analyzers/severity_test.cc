#include "analyzers/severity.h"

#include <gtest/gtest.h>

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
  EXPECT_EQ(SeverityOf(Saves(0.006), kRun), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Saves(0.004), kRun), Severity::kInfo);
}

TEST(Severity, IsInfoIfTheRuleAsksForNoChange) {
  Finding finding = Saves(0.9);
  finding.needs_fixing = false;
  EXPECT_EQ(SeverityOf(finding, kRun), Severity::kInfo);
}

TEST(Severity, IsAWarningForSomethingCheapInEveryStep) {
  Finding finding = Saves(0.001);
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
  EXPECT_EQ(SeverityOf(Saves(0.001), RunLength{}), Severity::kWarning);
  EXPECT_EQ(SeverityOf(Finding{.needs_fixing = true}, kRun), Severity::kWarning);
}

TEST(Severity, IsNoErrorInAPartOfTheRun) {
  EXPECT_EQ(SeverityOf(Saves(0.9), {.ns = kRun.ns, .is_part = true}), Severity::kWarning);
}

}  // namespace
}  // namespace xlaprof
