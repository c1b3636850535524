#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/analyzers/report_sample.h"

namespace xlaprof {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportMarkdown, TellsAll) {
  EXPECT_EQ(ReportMarkdown(SampleReport(), {}), R"(GOLDEN)");
}

TEST(ReportMarkdown, NamesStayText) {
  std::string text = ReportMarkdown(HostileReport(), {});
  // Outside of fences nothing of it may be HTML, a mention, a link or the end of a cell.
  bool fenced = false;
  std::string fence, prose;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!fenced && line.starts_with("```")) {
      fenced = true;
      fence = line.substr(0, line.find_first_not_of('`'));
    } else if (fenced && line == fence) {
      fenced = false;
    } else if (!fenced) {
      prose += line + "\n";
    }
  }
  EXPECT_FALSE(fenced);
  EXPECT_THAT(prose, Not(HasSubstr("<script")));
  EXPECT_THAT(prose, Not(HasSubstr("@team")));
  EXPECT_THAT(prose, Not(HasSubstr("https://evil")));
  EXPECT_THAT(prose, Not(HasSubstr("[a](b)")));
  EXPECT_THAT(prose, Not(HasSubstr("`")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  auto count = [&](std::string_view what) {
    int n = 0;
    for (size_t at = prose.find(what); at != std::string::npos; at = prose.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("</details>"), 2);
  EXPECT_EQ(count("<details>"), 2);
}

TEST(ReportMarkdown, CleanRunSaysSo) { EXPECT_THAT(ReportMarkdown(CleanReport(), {}), HasSubstr("Nothing found that needs fixing")); }

}  // namespace
}  // namespace xlaprof
