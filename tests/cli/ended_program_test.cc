// Tests how a program of the lazy runtime ends while steps are queued. Each of them runs several
// times, because what went wrong was a race.
#include <gmock/gmock.h>

#include "tests/run_program.h"

namespace xlaprof {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class EndedProgram : public ProgramTest {
 protected:
  // Runs ended_program with a variable, or several. A run that hangs ends after a minute. In a
  // forked child, LeakSanitizer takes what the parent's threads own for leaks, so it is off.
  Ran Ended(const std::string& environment, const std::string& arguments) {
    return RunShell(environment + " ASAN_OPTIONS=detect_leaks=0 XLAPROF_PROGRAM=" XLAPROF_PROGRAM
                                  " timeout 60 " XLAPROF_ENDED_PROGRAM " " +
                        arguments,
                    folder_);
  }
  static constexpr int kRuns = 20;
};

TEST_F(EndedProgram, EndsWithItsStatus) {
  for (const char* mode : {"return", "return 1", "thread", "fork"}) {
    SCOPED_TRACE(mode);
    for (int i = 0; i < kRuns; ++i) {
      const Ran ran = Ended("", mode);
      ASSERT_EQ(ran.status, 7) << ran.out;
      ASSERT_THAT(ran.out, IsEmpty());
    }
  }
}

TEST_F(EndedProgram, PrintsItsReport) {
  for (int i = 0; i < kRuns; ++i) {
    const Ran ran = Ended("XLAPROF_REPORT=1", "return");
    ASSERT_EQ(ran.status, 7) << ran.out;
    ASSERT_THAT(ran.out, AllOf(HasSubstr("30 executions"), Not(HasSubstr("was killed"))));
  }
}

TEST_F(EndedProgram, RecordsWhatWasQueued) {
  for (int i = 0; i < kRuns; ++i) {
    const Ran ran = Ended("XLAPROF_RECORD=run.xlaprof", "return");
    ASSERT_EQ(ran.status, 7) << ran.out;
    ASSERT_THAT(ran.out, HasSubstr(" 0 dropped"));
    // Each step is an execution, and each of them ran.
    ASSERT_EQ(Run("query run.xlaprof --format csv 'SELECT count(dur_ns) AS n FROM execution'").out,
              "n\n30\n");
    std::filesystem::remove(folder_ / "run.xlaprof");
  }
}

TEST_F(EndedProgram, EndsWhileItServes) {
  for (int i = 0; i < kRuns; ++i) {
    const Ran ran = Ended("XLAPROF_SERVE=0", "return");
    ASSERT_EQ(ran.status, 7) << ran.out;
  }
}

// exit() interrupts the runtime anywhere, also where it holds a lock or does the device's work.
TEST_F(EndedProgram, MayEndInASignalsHandler) {
  for (int i = 0; i < 5; ++i) {
    const Ran ran = Ended("", "signal");
    ASSERT_EQ(ran.status, 7) << ran.out;
  }
}

// abort() finishes nothing.
TEST_F(EndedProgram, AnUncaughtExceptionIsNotDelayed) {
  EXPECT_THAT(Ended("", "throw").out, HasSubstr("nobody catches it"));
}

TEST_F(EndedProgram, StaticObjectsMayReadButNotCompute) {
  const Ran ran = Ended("", "static");
  EXPECT_EQ(ran.status, 7);
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("computed 2\n"),
                    HasSubstr("the program has ended: exit() is destroying static objects"),
                    HasSubstr("ended_program.cc:"), Not(HasSubstr("recorded 3"))));
}

}  // namespace
}  // namespace xlaprof
