// Tests compilations that a profile shows only in part.
#include "analyzers/incomplete_capture.h"
#include "analyzers/run/partial_compiles.h"
#include "tests/analyzers/timed_run.h"

namespace xlaprof {

extern const Analyzer incomplete_capture;

namespace {

class OpenCompilesTest : public testing::Test {
 protected:
  // Adds the passes of a compilation of `module`, which fill 2 s from `ts_us` on.
  void Passes(int64_t ts_us, const std::string& module = "jit_step") {
    for (const char* pass : {"HLO passes through layout assignment", "simplification", "fusion"}) {
      run_.Event(thread_, TextOf(Category::kHost), fmt::format("{} ({})", pass, module), ts_us,
                 500'000);
      ts_us += 750'000;
    }
  }
  // Returns the finding that the profile was taken during a compilation.
  std::optional<Finding> Found() {
    for (const Finding& finding : run_.Run(incomplete_capture)) {
      if (finding.reason->type == ReasonType::kInsideCompile) return finding;
    }
    return std::nullopt;
  }
  TimedRun run_;
  int64_t thread_ = run_.HostThread("compiler");
};

TEST_F(OpenCompilesTest, PassesWithoutTheirCompilationFillTheProfile) {
  Passes(100'000);
  run_.Event(run_.HostThread(), TextOf(Category::kHost), "sleep", 0, 3'000'000);
  const std::optional<Finding> finding = Found();
  ASSERT_TRUE(finding.has_value());
  EXPECT_EQ(finding->severity, Severity::kWarning);
  const auto& figures = std::any_cast<const IncompleteCaptureFigures&>(finding->figures);
  EXPECT_EQ(figures.module, "jit_step");
  EXPECT_EQ(figures.passes_ns, 2'000'000'000);
  EXPECT_EQ(figures.window_ns, 3'000'000'000);
}

TEST_F(OpenCompilesTest, APartOfALongProfileIsOnlyMentioned) {
  Passes(100'000);
  run_.Event(run_.HostThread(), TextOf(Category::kHost), "sleep", 0, 30'000'000);
  ASSERT_TRUE(Found().has_value());
  EXPECT_EQ(Found()->severity, Severity::kInfo);
}

TEST_F(OpenCompilesTest, ARecordedCompilationIsWhole) {
  Passes(100'000);
  run_.Exec(
      "INSERT INTO compile (process_id, ordinal, ts_ns, dur_ns, dur_from, cause, inferred) VALUES (1, 0, 90000000, 2100000000, 'profile', 'call', 0)");
  EXPECT_FALSE(Found().has_value());
}

TEST_F(OpenCompilesTest, OtherWordsInBracketsAreNoPasses) {
  for (int i = 0; i < 9; ++i) {
    run_.Event(thread_, TextOf(Category::kHost), "Execute (wait for completion)", i * 1'000'000,
               900'000);
    run_.Event(thread_, TextOf(Category::kHost), "fetch (batch)", i * 1'000'000, 900'000);
  }
  EXPECT_FALSE(Found().has_value());
}

}  // namespace
}  // namespace xlaprof
