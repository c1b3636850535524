#include "cli/slice_options.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(ParseTime, UnitsAndNanoseconds) {
  EXPECT_EQ(*ParseTime("1.5s"), 1'500'000'000);
  EXPECT_EQ(*ParseTime("200ms"), 200'000'000);
  EXPECT_EQ(*ParseTime("30us"), 30'000);
  EXPECT_EQ(*ParseTime("4ns"), 4);
  EXPECT_EQ(*ParseTime("9007199254740993"), 9'007'199'254'740'993);
  for (const char* bad : {"", "s", "1.5", "1 s", "-1s", "1h", "nan", "inf", "1e99s", "1s2"})
    EXPECT_FALSE(ParseTime(bad).ok()) << bad;
}

TEST(ParseSteps, Ranges) {
  auto parsed = [](const std::string& text) {
    Slice slice;
    EXPECT_TRUE(ParseSteps(text, slice).ok()) << text;
    return std::pair(slice.first_step, slice.last_step);
  };
  EXPECT_EQ(parsed("3:7"), std::pair(OptInt(3), OptInt(7)));
  EXPECT_EQ(parsed("3:"), std::pair(OptInt(3), OptInt()));
  EXPECT_EQ(parsed(":7"), std::pair(OptInt(), OptInt(7)));
  EXPECT_EQ(parsed("5"), std::pair(OptInt(5), OptInt(5)));
  Slice slice;
  for (const char* bad : {"", ":", "a:b", "7:3", "1:2:3", "3-7"})
    EXPECT_FALSE(ParseSteps(bad, slice).ok()) << bad;
}

}  // namespace
}  // namespace xlaprof
