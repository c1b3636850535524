#include "analyzers/incomplete_capture.h"

#include <gtest/gtest.h>

#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer incomplete_capture;

namespace {

// Returns the findings about a capture by the type of their reason.
std::map<ReasonType, Finding> Said(TimedRun& run) {
  std::map<ReasonType, Finding> said;
  for (Finding& finding : run.Run(incomplete_capture))
    said.emplace(finding.reason->type, std::move(finding));
  return said;
}

TEST(IncompleteCapture, StepsAreMarkedAsTheProfilerThatWasUsedDoes) {
  TimedRun run;
  run.Event(run.HostThread(), TextOf(Category::kScope), "forward", 0, 10);
  std::map<ReasonType, Finding> said = Said(run);
  ASSERT_TRUE(said.contains(ReasonType::kNoStepMarkers));
  auto is_torch_profile = [](const Finding& finding) {
    return std::any_cast<const IncompleteCaptureFigures&>(finding.figures).is_torch_profile;
  };
  EXPECT_FALSE(is_torch_profile(said[ReasonType::kNoStepMarkers]));
  run.Interned("cpu_op");
  EXPECT_TRUE(is_torch_profile(Said(run)[ReasonType::kNoStepMarkers]));
}

TEST(IncompleteCapture, OneStepIsNotEnough) {
  TimedRun run;
  const int64_t thread = run.HostThread();
  run.Step(thread, 0, 10);
  EXPECT_TRUE(Said(run).contains(ReasonType::kOneStep));
  run.Step(thread, 10, 10);
  EXPECT_FALSE(Said(run).contains(ReasonType::kOneStep));
  EXPECT_FALSE(Said(run).contains(ReasonType::kNoStepMarkers));
}

TEST(IncompleteCapture, AProfileWithoutEventsIsEmptyOrCut) {
  TimedRun run;
  EXPECT_TRUE(Said(run).contains(ReasonType::kEmptyProfile));
  run.Exec(
      "INSERT INTO import_issue (source_id, code, severity, count, first_offset, first_line, advice) VALUES (1, 'cut_file', 'error', 1, 0, NULL, 'a')");
  const std::map<ReasonType, Finding> said = Said(run);
  EXPECT_FALSE(said.contains(ReasonType::kEmptyProfile));
  ASSERT_TRUE(said.contains(ReasonType::kCutProfile));
  EXPECT_EQ(said.at(ReasonType::kCutProfile).severity, Severity::kWarning);
}

// Regression: the advice was to switch on explanations, which the log had.
TEST(IncompleteCapture, ALogThatExplainsCallsNeedsNoExplanations) {
  TimedRun run;
  for (int i = 0; i < 2; ++i)
    run.Exec(fmt::format(
        "INSERT INTO compile (process_id, ordinal, cause, function, inferred) VALUES (1, {}, "
        "'call', 'f', 0)",
        i));
  EXPECT_TRUE(Said(run).contains(ReasonType::kNoReasons));
  run.Exec("INSERT INTO stack (id, hash) VALUES (1, 'a'); UPDATE compile SET stack_id = 1");
  EXPECT_FALSE(Said(run).contains(ReasonType::kNoReasons));
}

TEST(IncompleteCapture, AWindowIsSaidToBeOne) {
  TimedRun run;
  for (int i = 0; i < 5; ++i)
    run.Exec(fmt::format("INSERT INTO execution (process_id, ordinal, ts_ns) VALUES (1, {}, {})", i,
                         i < 2 ? "1000" : "NULL"));
  const std::map<ReasonType, Finding> said = Said(run);
  ASSERT_TRUE(said.contains(ReasonType::kWindow));
  EXPECT_EQ(said.at(ReasonType::kWindow).words.title, "the profile saw 2 of 5 executions");
  EXPECT_EQ(said.at(ReasonType::kWindow).count, 2);
}

}  // namespace
}  // namespace xlaprof
