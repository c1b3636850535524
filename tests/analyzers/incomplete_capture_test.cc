#include <gmock/gmock.h>

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer incomplete_capture;

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What is said of a capture, by the reason's type.
std::map<std::string, Finding> Said(TimedRun& run) {
  std::map<std::string, Finding> said;
  for (Finding& finding : run.Run(incomplete_capture))
    said.emplace(finding.reason->type, std::move(finding));
  return said;
}

TEST(IncompleteCapture, StepsAreMarkedAsTheProfilerThatWasUsedDoes) {
  TimedRun run;
  run.Event(run.HostThread(), category::kScope, "forward", 0, 10);
  std::map<std::string, Finding> said = Said(run);
  ASSERT_TRUE(said.contains("no_step_markers"));
  EXPECT_THAT(said["no_step_markers"].advice, HasSubstr("jax.profiler.StepTraceAnnotation"));
  EXPECT_THAT(said["no_step_markers"].advice, Not(HasSubstr("prof.step()")));
  run.Exec("UPDATE source SET format = 'chrome'");
  EXPECT_THAT(Said(run)["no_step_markers"].advice, HasSubstr("prof.step() of torch.profiler"));
}

TEST(IncompleteCapture, OneStepIsNotEnough) {
  TimedRun run;
  const int64_t thread = run.HostThread();
  run.Step(thread, 0, 10);
  EXPECT_TRUE(Said(run).contains("one_step"));
  run.Step(thread, 10, 10);
  EXPECT_FALSE(Said(run).contains("one_step"));
  EXPECT_FALSE(Said(run).contains("no_step_markers"));
}

TEST(IncompleteCapture, AProfileWithoutEventsIsEmptyOrCut) {
  TimedRun run;
  EXPECT_TRUE(Said(run).contains("empty_profile"));
  run.Exec("INSERT INTO import_issue VALUES (1, 'cut_file', 'error', 1, 0, NULL, 'a')");
  const std::map<std::string, Finding> said = Said(run);
  EXPECT_FALSE(said.contains("empty_profile"));
  ASSERT_TRUE(said.contains("cut_profile"));
  EXPECT_EQ(said.at("cut_profile").severity, Severity::kWarning);
}

TEST(IncompleteCapture, AWindowIsSaidToBeOne) {
  TimedRun run;
  for (int i = 0; i < 5; ++i)
    run.Exec(fmt::format("INSERT INTO execution (process_id, ordinal, ts_ns) VALUES (1, {}, {})", i,
                         i < 2 ? "1000" : "NULL"));
  const std::map<std::string, Finding> said = Said(run);
  ASSERT_TRUE(said.contains("window"));
  EXPECT_EQ(said.at("window").title, "the profile saw 2 of 5 executions");
  EXPECT_EQ(said.at("window").count, 2);
}

}  // namespace
}  // namespace xlaprof
