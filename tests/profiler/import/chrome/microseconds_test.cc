#include "profiler/import/chrome/microseconds.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>

namespace xlaprof {
namespace {

std::string Parsed(std::string_view text) {
  Picoseconds time;
  if (!ParseMicroseconds(text, &time)) return "no";
  return fmt::format("{}+{}", time.ns, time.ps);
}

TEST(Microseconds, AreExact) {
  EXPECT_EQ(Parsed("0"), "0+0");
  EXPECT_EQ(Parsed("1"), "1000+0");
  EXPECT_EQ(Parsed("0.001"), "1+0");
  EXPECT_EQ(Parsed("12.5"), "12500+0");
  EXPECT_EQ(Parsed("12.123456"), "12123+456");
  EXPECT_EQ(Parsed("12.1234569"), "12123+456");
  // A double would turn this into ...123.0, because its spacing here is a quarter of a microsecond.
  EXPECT_EQ(Parsed("1766000000000000.123"), "1766000000000000123+0");
  EXPECT_EQ(Parsed("1712195495505543.2"), "1712195495505543200+0");
  EXPECT_EQ(Parsed("007"), "7000+0");
}

// Most writers print three digits after the decimal point; those numbers are read a word at a time.
TEST(Microseconds, ThreeDigitsBehindThePoint) {
  std::mt19937_64 random(5);
  for (int digits = 1; digits <= 17; ++digits) {
    for (int i = 0; i < 2000; ++i) {
      std::string text;
      for (int d = 0; d < digits; ++d) text += char('0' + random() % 10);
      const int64_t us = std::stoll(text);
      const int64_t ns = int64_t(random() % 1000);
      text += fmt::format(".{:03}", ns);
      const std::string expected = digits <= 15 || us < (int64_t(1) << 62) / 1000 - 1
                                       ? fmt::format("{}+0", us * 1000 + ns)
                                       : "no";
      ASSERT_EQ(Parsed(text), expected) << text;
      // Any other character is detected, wherever it is.
      std::string broken = text;
      const size_t at = random() % text.size();
      do broken[at] = char(random() % 256);
      while (std::string_view("0123456789.-+eE").find(broken[at]) != std::string_view::npos);
      ASSERT_EQ(Parsed(broken), "no") << broken;
    }
  }
}

TEST(Microseconds, SignsAndExponents) {
  EXPECT_EQ(Parsed("-1"), "-1000+0");
  EXPECT_EQ(Parsed("-0.0005"), "-1+500");
  EXPECT_EQ(Parsed("-0.0000001"), "-1+999");
  EXPECT_EQ(Parsed("+2"), "2000+0");
  EXPECT_EQ(Parsed("1.5e3"), "1500000+0");
  EXPECT_EQ(Parsed("15E-1"), "1500+0");
  EXPECT_EQ(Parsed("1e-9"), "0+0");
  EXPECT_EQ(Parsed("1e-999999999999"), "0+0");
  EXPECT_EQ(Parsed("0e999999999999"), "0+0");
  EXPECT_EQ(Parsed(".5"), "500+0");
  EXPECT_EQ(Parsed("5."), "5000+0");
}

TEST(Microseconds, WhatIsNoTimeIsRefused) {
  for (const char* text : {"", "-", ".", "abc", "1x", "1.2.3", "1e", "1e+", "NaN", "0x10", "1e30",
                           "1e999999999999", "9223372036854775807", "99999999999999999999999999999",
                           "123456789012345678901234567890123456789012345678901234567890"})
    EXPECT_EQ(Parsed(text), "no") << text;
}

TEST(Microseconds, AgreeWithWholeNumbers) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200'000; ++i) {
    const int64_t ps = int64_t(random() >> (1 + random() % 60));
    std::string text = fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000);
    Picoseconds time;
    ASSERT_TRUE(ParseMicroseconds(text, &time)) << text;
    ASSERT_EQ(time.ns, ps / 1000) << text;
    ASSERT_EQ(time.ps, ps % 1000) << text;
    text += random() % 2 ? "e0" : "";
    Picoseconds slow;
    ASSERT_TRUE(ParseMicroseconds("+" + text, &slow)) << text;
    ASSERT_EQ(slow.ns, time.ns) << text;
    ASSERT_EQ(slow.ps, time.ps) << text;
  }
}

}  // namespace
}  // namespace xlaprof
