// Tests the search for many marks in one text.
#include "profiler/import/text/mark_search.h"

#include <gmock/gmock.h>

#include <string>

namespace xlaprof {
namespace {

using testing::ElementsAre;

TEST(MarkSearch, FindsEachGroupThatOccurs) {
  constexpr std::string_view kFirst[] = {"Analysis:", "IR graph hash "}, kSecond[] = {"Value: "},
                             kThird[] = {"Valuable", "Analysis;"};
  const std::span<const std::string_view> groups[] = {kFirst, kSecond, kThird};
  EXPECT_THAT(GroupsIn("x Analysis: Value: 3", groups), ElementsAre(true, true, false));
  EXPECT_THAT(GroupsIn("IR graph hash ", groups), ElementsAre(true, false, false));
  EXPECT_THAT(GroupsIn("AnalAnalysis;Value", groups), ElementsAre(false, false, true));
  EXPECT_THAT(GroupsIn("Value:", groups), ElementsAre(false, false, false));
  EXPECT_THAT(GroupsIn("", groups), ElementsAre(false, false, false));
  EXPECT_THAT(GroupsIn("Analysis:", {}), ElementsAre());
}

// A mark is found wherever it is, whatever is around it.
TEST(MarkSearch, FindsAMarkAtEachPlace) {
  constexpr std::string_view kMarks[] = {"abab", "babba", "aab"};
  const std::span<const std::string_view> groups[] = {std::span(kMarks).subspan(0, 1),
                                                      std::span(kMarks).subspan(1, 1),
                                                      std::span(kMarks).subspan(2, 1),
                                                      {}};
  for (unsigned bits = 0; bits < 1 << 10; ++bits) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += bits >> i & 1 ? 'a' : 'b';
    std::vector<bool> expected;
    for (std::string_view mark : kMarks) expected.push_back(text.find(mark) != std::string::npos);
    expected.push_back(false);
    EXPECT_EQ(GroupsIn(text, groups), expected) << text;
  }
}

TEST(MarkSearch, TellsPlacesOfWhatIsWanted) {
  constexpr std::string_view kFirst[] = {"mark"}, kSecond[] = {"note"};
  const std::span<const std::string_view> groups[] = {kFirst, kSecond};
  std::vector<bool> wanted = {true, true};
  std::vector<std::pair<size_t, size_t>> found;
  EachMark("mark note mark note", groups, wanted, [&](size_t group, size_t at) {
    found.emplace_back(group, at);
    wanted[0] = false;
  });
  EXPECT_THAT(found, ElementsAre(std::pair(0, 0), std::pair(1, 5), std::pair(1, 15)));
}

}  // namespace
}  // namespace xlaprof
