// Tests that "Which file saw what" lists only the first of thousands of files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/report/report_sample.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Coverage, OfManyFilesTheFirstAreListed) {
  Report report = SampleReport();
  report.summary.coverage.clear();
  for (int i = 0; i < 21; ++i)
    report.summary.coverage.push_back({.path = fmt::format("f{}.txt", i), .format = "debug_log"});
  for (const std::string& text : {ReportText(report, {}), ReportMarkdown(report, {})}) {
    EXPECT_THAT(text, HasSubstr("f19.txt"));
    EXPECT_THAT(text, Not(HasSubstr("f20.txt")));
    EXPECT_THAT(text, HasSubstr("and 1 more"));
  }
}

}  // namespace
}  // namespace xlaprof
