#include "base/numbers.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

TEST(NumbersTest, ParsesOnlyTextsThatAreOneInteger) {
  EXPECT_EQ(ParseInteger("0"), 0);
  EXPECT_EQ(ParseInteger("-17"), -17);
  EXPECT_EQ(ParseInteger("007"), 7);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.0", "0x1f", "1e3", "a", "1a", "--1"})
    EXPECT_FALSE(ParseInteger(text)) << text;
}

TEST(NumbersTest, ReportsWhatDoesNotFitAsNoNumber) {
  EXPECT_EQ(ParseInteger("9223372036854775807"), INT64_MAX);
  EXPECT_EQ(ParseInteger("-9223372036854775808"), INT64_MIN);
  EXPECT_FALSE(ParseInteger("9223372036854775808"));
  EXPECT_EQ(ParseInteger<uint64_t>("18446744073709551615"), UINT64_MAX);
  EXPECT_FALSE(ParseInteger<uint64_t>("-1"));
  EXPECT_FALSE(ParseInteger<int>("2147483648"));
  EXPECT_FALSE(ParseCount("99999999999999999999999"));
  EXPECT_FALSE(FindCount("of 99999999999999999999999 steps"));
  EXPECT_FALSE(ParseReal("1e999"));
}

TEST(NumbersTest, ParsesOtherBases) {
  EXPECT_EQ(ParseInteger<uint64_t>("1f", 16), 0x1fu);
  EXPECT_EQ(ParseInteger<uint32_t>("00E9", 16), 0xe9u);
  EXPECT_FALSE(ParseInteger<uint32_t>("00g9", 16));
}

TEST(NumbersTest, CountsHaveNoSign) {
  EXPECT_EQ(ParseCount("23512"), 23512);
  for (const char* text : {"", "-1", "-0", "+1", "1_0", "1,000"})
    EXPECT_FALSE(ParseCount(text)) << text;
}

TEST(NumbersTest, FindsTheFirstCount) {
  EXPECT_EQ(FindCount("Number of Graph Inputs: 5"), 5);
  EXPECT_EQ(FindCount("FRAME (count=12):"), 12);
  EXPECT_EQ(FindCount("3 of 7"), 3);
  EXPECT_FALSE(FindCount("Number of Graph Inputs:"));
  EXPECT_FALSE(FindCount(""));
}

TEST(NumbersTest, TakesTheNumberThatATextBeginsWith) {
  std::string_view text = "0004.jit_f.before_optimizations.txt";
  EXPECT_EQ(TakeInteger(&text), 4);
  EXPECT_EQ(text, ".jit_f.before_optimizations.txt");
  EXPECT_FALSE(TakeInteger(&text));
  EXPECT_EQ(text, ".jit_f.before_optimizations.txt");

  text = "1.548000 GB";
  EXPECT_EQ(TakeReal(&text), 1.548);
  EXPECT_EQ(text, " GB");
  text = "99999999999999999999:";
  EXPECT_FALSE(TakeInteger(&text));
  EXPECT_EQ(text, "99999999999999999999:");
  text = "-3,4";
  EXPECT_FALSE(TakeInteger<size_t>(&text));
  EXPECT_EQ(TakeInteger(&text), -3);
  EXPECT_EQ(text, ",4");
  text = {};
  EXPECT_FALSE(TakeInteger(&text));
  EXPECT_FALSE(TakeReal(&text));
}

TEST(NumbersTest, ParsesRealNumbers) {
  EXPECT_EQ(ParseReal("1.25"), 1.25);
  EXPECT_EQ(ParseReal("-.5"), -.5);
  EXPECT_EQ(ParseReal("1e-3"), 1e-3);
  for (const char* text : {"", "inf", "nan", "1.5s", " 1", "0x1p3", "1,5"})
    EXPECT_FALSE(ParseReal(text)) << text;
}

TEST(NumbersTest, ReadsOnlyWithinTheView) {
  const std::string_view whole = "12345";
  EXPECT_EQ(ParseInteger(whole.substr(1, 2)), 23);
  std::string_view part = whole.substr(0, 3);
  EXPECT_EQ(TakeInteger(&part), 123);
  EXPECT_TRUE(part.empty());
}

}  // namespace
}  // namespace xlaprof
