#include "analyzers/report/report_layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(DisplayWidth, CountsColumns) {
  EXPECT_EQ(DisplayWidth("größe"), 5);
  EXPECT_EQ(DisplayWidth("模型"), 4);
  EXPECT_EQ(DisplayWidth("e\u0301"), 1);
}

TEST(Ellipsize, KeepsBothEnds) {
  EXPECT_EQ(Ellipsize("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(Ellipsize("abcdefghij", 7), "abc…hij");
  EXPECT_EQ(Ellipsize("模型模型模型模型", 7), "模…型");
  EXPECT_EQ(Ellipsize("abc", 1), "…");
  EXPECT_EQ(Ellipsize("abc", 0), "");
}

TEST(PrintableStart, EscapesWhatIsShown) {
  EXPECT_EQ(PrintableStart("a\x1b[31m", 20), "a\\x1b[31m");
  EXPECT_EQ(PrintableStart("abcdefghij", 7), "abcdef…");
  EXPECT_EQ(PrintableStart(std::string(1000, '\x1b'), 9), "\\x1b\\x1b…");
  // The ellipsis tells that something is left out, even if that takes no columns.
  EXPECT_TRUE(
      PrintableStart("e" + std::string(1000, ' ').replace(0, 2, "\u0301"), 4).ends_with("…"));
  // A character of several bytes at the cut stays whole.
  std::string wide = "x";
  for (int i = 0; i < 1000; ++i) wide += "模";
  EXPECT_EQ(PrintableStart(wide, 5), "x模…");
}

TEST(EllipsizePair, ShowsWhereTheyDiffer) {
  std::string same(200, 'x');
  auto [before, after] = EllipsizePair(same + "slice={[1:2]}", same + "slice={[2:3]}", 40);
  EXPECT_NE(before.find("[1:2]"), std::string::npos) << before;
  EXPECT_NE(after.find("[2:3]"), std::string::npos) << after;
  EXPECT_LE(DisplayWidth(before), 40);
  EXPECT_THAT(EllipsizePair("f32[64]", "f32[48]", 40), Pair("f32[64]", "f32[48]"));
}

TEST(Wrap, BreaksAtSpacesAndNewlines) {
  EXPECT_THAT(Wrap("one two three four", 10), ElementsAre("one two", "three four"));
  EXPECT_THAT(Wrap("one\ntwo", 10), ElementsAre("one", "two"));
  EXPECT_THAT(Wrap("", 10), ElementsAre());
  EXPECT_THAT(Wrap("a 0123456789abcdef b", 11), ElementsAre("a", "01234…bcdef", "b"));
}

}  // namespace
}  // namespace xlaprof
