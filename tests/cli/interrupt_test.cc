// Tests Ctrl-C while something must be kept.
#include "cli/interrupt.h"

#include <gmock/gmock.h>
#include <signal.h>

namespace xlaprof {
namespace {

TEST(InterruptDeathTest, IsNotedOnceThenEnds) {
  Interrupt interrupt;
  EXPECT_FALSE(interrupt.asked());
  raise(SIGINT);
  EXPECT_TRUE(interrupt.asked());
  EXPECT_EXIT(raise(SIGTERM), testing::KilledBySignal(SIGTERM), "");
}

TEST(InterruptDeathTest, SaysWhatIsLeftOnceThereAreLastWords) {
  {
    Interrupt interrupt;
    interrupt.EndWith("it is in /tmp/here\n");
    EXPECT_EXIT(raise(SIGINT), testing::KilledBySignal(SIGINT), "it is in /tmp/here");
    EXPECT_FALSE(interrupt.asked());
  }
  EXPECT_EXIT(raise(SIGINT), testing::KilledBySignal(SIGINT), "^$");
}

TEST(InterruptDeathTest, QuitEndsAtOnce) {
  Interrupt interrupt;
  EXPECT_EXIT(raise(SIGQUIT), testing::KilledBySignal(SIGQUIT), "");
  interrupt.EndWith("it is in /tmp/here\n");
  EXPECT_EXIT(raise(SIGQUIT), testing::KilledBySignal(SIGQUIT), "it is in /tmp/here");
}

// Under nohup, the signal stays ignored.
TEST(InterruptDeathTest, WhatIsIgnoredStaysSo) {
  const auto before = signal(SIGINT, SIG_IGN);
  {
    Interrupt interrupt;
    raise(SIGINT);
    EXPECT_FALSE(interrupt.asked());
  }
  EXPECT_EQ(signal(SIGINT, before), SIG_IGN);
}

}  // namespace
}  // namespace xlaprof
