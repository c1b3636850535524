#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analyzers/report_layout.h"
#include "tests/analyzers/report_sample.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    lines.emplace_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(lines.back().size() + 1);
  }
  return lines;
}

TEST(ReportText, TellsAll) {
  EXPECT_EQ(ReportText(SampleReport(), {.width = 80}), R"(GOLDEN)");
}

TEST(ReportText, CleanRunSaysSoAndWhatWasLookedAt) {
  std::string text = ReportText(CleanReport(), {.width = 100});
  EXPECT_THAT(text, HasSubstr("Nothing found that needs fixing"));
  for (const Analyzer* analyzer : AllAnalyzers()) EXPECT_THAT(text, HasSubstr(fmt::format("\n  {} ", analyzer->name)));
}

TEST(ReportText, FitsTheWidth) {
  for (int width : {40, 60, 80, 100, 160}) {
    for (bool all : {false, true}) {
      for (const std::string& line : Lines(ReportText(HostileReport(), {.width = width, .all = all}))) {
        EXPECT_LE(DisplayWidth(line), width) << line;
      }
    }
  }
}

TEST(ReportText, NoControlCharacterComesThrough) {
  for (bool colour : {false, true}) {
    std::string text = ReportText(HostileReport(), {.colour = colour, .all = true});
    EXPECT_THAT(text, Not(HasSubstr("\x1b[2J")));
    EXPECT_THAT(text, Not(HasSubstr("\xff")));
    EXPECT_EQ(text.find('\x1b') != std::string::npos, colour);
  }
}

TEST(ReportText, AllShowsInfoInFullWithEvidence) {
  std::string text = ReportText(SampleReport(), {.all = true});
  EXPECT_THAT(text, HasSubstr("3  info: 7 graphs took 500 ms"));
  EXPECT_THAT(text, HasSubstr("compile 3, 4"));
}

TEST(ReportText, WithoutClockThereAreCounts) {
  Report report = SampleReport();
  report.summary = {.steps = 10, .compile_count = 3, .execution_count = 40};
  std::string text = ReportText(report, {});
  EXPECT_THAT(text, HasSubstr("10 steps, 3 compilations, 40 executions (4 a step)"));
  EXPECT_THAT(text, HasSubstr("no source has times"));
  EXPECT_THAT(text, Not(HasSubstr("█")));
}

TEST(ReportText, SliceIsSaid) {
  Report report = SampleReport();
  report.slice = {.first_step = 3, .last_step = 5, .process_id = 2};
  EXPECT_THAT(ReportText(report, {}), HasSubstr("Only process 2, steps 3 to 5"));
}

// What lies outside of the profile's window may not be divided by it.
TEST(ReportText, NoShareOfAWindowThatSawLess) {
  Report report = SampleReport();
  report.summary.timed_steps = 3;
  EXPECT_THAT(ReportText(report, {}), HasSubstr("cost   400 ms: measured"));
}

}  // namespace
}  // namespace xlaprof
