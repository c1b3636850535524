// Programs that are recorded because the environment says so.
#include <gmock/gmock.h>

#include "profiler/store/store.h"
#include "tests/run_program.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

class RecordedProgram : public ProgramTest {
 protected:
  // With `environment` before it and `arguments` behind it.
  Ran RunRecorded(const std::string& environment, const std::string& arguments = "") {
    return RunShell(fmt::format("{} XLAPROF_PROGRAM={} {} {}", environment, XLAPROF_PROGRAM,
                                XLAPROF_RECORDED_PROGRAM, arguments),
                    folder_);
  }
};

TEST_F(RecordedProgram, IsAsItIsWithoutTheEnvironment) {
  Ran ran = RunRecorded("");
  EXPECT_EQ(ran.status, 0);
  EXPECT_EQ(ran.out, "");
}

TEST_F(RecordedProgram, RecordsToAPath) {
  Ran ran = RunRecorded("XLAPROF_RECORD=run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread, 0 dropped"));
  ran = Run("query run.xlaprof \"SELECT name, count(*) FROM event GROUP BY name\"");
  EXPECT_THAT(ran.out, HasSubstr("compute"));
  ran = RunRecorded("XLAPROF_RECORD=run.xlaprof");
  EXPECT_EQ(ran.status, 0) << "the program itself must not fail";
  EXPECT_THAT(ran.out, HasSubstr("already exists"));
}

TEST_F(RecordedProgram, PrintsItsReport) {
  Ran ran = RunRecorded("XLAPROF_REPORT=1");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("recorded_program"));
  EXPECT_THAT(ran.out, HasSubstr("5 steps"));
}

TEST_F(RecordedProgram, SeveralIntoOneFolderAreOneRun) {
  ASSERT_EQ(RunShell("mkdir folder", folder_).status, 0);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(RunRecorded("XLAPROF_RECORD=folder").status, 0);
  Ran ran = Run("report folder");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("2 processes"));
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread, none dropped"));
  ran = Run("import folder -o both.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  ran = Run(
      "query both.xlaprof --format csv \"SELECT count(*), count(DISTINCT t.process_id), (SELECT "
      "count(*) FROM step), (SELECT count(*) FROM arg WHERE key = 'source_line') FROM event e JOIN "
      "track t ON t.id = e.track_id\"");
  EXPECT_THAT(ran.out, HasSubstr("30,2,10,30"));
}

TEST_F(RecordedProgram, GoesOnWhereNothingCanBeRecorded) {
  Ran ran = RunRecorded("XLAPROF_RECORD=no/folder/run.xlaprof");
  EXPECT_EQ(ran.status, 0);
  EXPECT_THAT(ran.out, HasSubstr("nothing is recorded: no/folder/run.xlaprof"));
}

TEST_F(RecordedProgram, IsRecoveredAfterAKill) {
  RunRecorded("XLAPROF_RECORD=run.xlaprof", "kill");
  // Who reads sees it all, and changes nothing.
  Ran ran = Run("report run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("recover run.xlaprof"));
  EXPECT_THAT(ran.out, HasSubstr("15 events of 1 thread"));
  ran = Run("import . -o all.xlaprof");
  EXPECT_THAT(ran.out, HasSubstr("1 file read, 0 warnings"));
  EXPECT_THAT(Run("query all.xlaprof \"SELECT count(*) FROM event\" --format csv").out,
              HasSubstr("16"));
  ran = Run("recover run.xlaprof");
  EXPECT_EQ(ran.status, 0) << ran.out;
  EXPECT_THAT(ran.out, HasSubstr("taken in"));
  EXPECT_THAT(Run("recover run.xlaprof").out, HasSubstr("nothing waits"));
  Write("foreign.bin", "no recording");
  EXPECT_EQ(Run("recover foreign.bin").status, 2);
  ran = Run("query run.xlaprof \"SELECT count(*), count(dur_ns) FROM event\" --format csv");
  EXPECT_THAT(ran.out, HasSubstr("16,15")) << "one never ended";
  EXPECT_THAT(Run("report run.xlaprof").out, Not(HasSubstr("recover")));
}

}  // namespace
}  // namespace xlaprof
