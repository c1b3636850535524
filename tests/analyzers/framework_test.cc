// Tests which framework a run's program is found to use.
#include <gtest/gtest.h>

#include "analyzers/analyzer.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {
namespace {

TEST(Framework, IsToldByTheLines) {
  TimedRun run;
  EXPECT_EQ(FrameworkOf(xlaprof::Run(run.store())).value(), Framework::kUnknown);
  run.Exec(
      "DELETE FROM source; INSERT INTO source (path, format, imported) VALUES ('r', 'recording', "
      "1)");
  EXPECT_EQ(FrameworkOf(xlaprof::Run(run.store())).value(), Framework::kCpp);
  // A source whose format is unknown does not identify a framework.
  run.Exec("INSERT INTO source (path, imported) VALUES ('x', 1)");
  EXPECT_EQ(FrameworkOf(xlaprof::Run(run.store())).value(), Framework::kCpp);
  run.Exec("INSERT INTO site (function, file, line) VALUES ('main', '/x/train.py', 3)");
  EXPECT_EQ(FrameworkOf(xlaprof::Run(run.store())).value(), Framework::kUnknown);
  run.Exec(
      "INSERT INTO site (function, file, line) VALUES ('Step', '/x/train.cc', 3), ('Step', "
      "'/x/model.h', 4)");
  EXPECT_EQ(FrameworkOf(xlaprof::Run(run.store())).value(), Framework::kCpp);
}

}  // namespace
}  // namespace xlaprof
