// Tests how the rounds of a loop are found.
#include "profiler/import/text/rounds.h"

#include <gmock/gmock.h>

#include <string>

namespace xlaprof {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Returns the rounds of names of one letter, as texts.
std::vector<std::string> Rounds(std::string_view names) {
  std::vector<std::string_view> list;
  for (size_t i = 0; i < names.size(); ++i) list.push_back(names.substr(i, 1));
  std::vector<std::string> rounds;
  for (const Round& round : RoundsOf(list))
    rounds.emplace_back(names.substr(round.begin, round.end - round.begin));
  return rounds;
}

TEST(Rounds, FindsEachRound) {
  EXPECT_THAT(Rounds("llcbolLcbollcbo"), IsEmpty());
  EXPECT_THAT(Rounds("llcbollcbollcbo"), ElementsAre("llcbo", "llcbo", "llcbo"));
}

TEST(Rounds, TheFirstMayDiffer) {
  EXPECT_THAT(Rounds("mrdsmrdsamrdsamrdsamrdsa"),
              ElementsAre("mrds", "mrdsa", "mrdsa", "mrdsa", "mrdsa"));
}

TEST(Rounds, ALoopInsideIsNotTheRound) {
  EXPECT_THAT(Rounds("abababxabababxabababxabababx"),
              ElementsAre("abababx", "abababx", "abababx", "abababx"));
}

TEST(Rounds, NeedsThreeRoundsAndMostOfTheSequence) {
  EXPECT_THAT(Rounds(""), IsEmpty());
  EXPECT_THAT(Rounds("abcabc"), IsEmpty());
  EXPECT_THAT(Rounds("qwertyuiopsdfghjklabababab"), IsEmpty());
}

}  // namespace
}  // namespace xlaprof
