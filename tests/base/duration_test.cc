#include "base/duration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iomanip>
#include <random>
#include <sstream>
#include <string>

namespace xlaprof {
namespace {

// Prints a duration as torch_xla does: the stream rounds each part, but only the floor of the part
// is subtracted.
std::string Print(double ns) {
  struct Part {
    const char* suffix;
    double scale;
    int width, precision;
  };
  static const Part kParts[] = {{"d", 86400e9, 2, 0}, {"h", 3600e9, 2, 0}, {"m", 60e9, 2, 0},
                                {"s", 1e9, 2, 0},     {"ms", 1e6, 3, 0},   {"us", 1e3, 7, 3}};
  std::ostringstream out;
  out << std::fixed << std::setfill('0');
  int printed = 0;
  for (const Part& part : kParts) {
    double value = ns / part.scale;
    if (value < 1.0 && printed == 0 && part.precision == 0) continue;
    out << std::setprecision(part.precision) << std::setw(part.width) << value << part.suffix;
    ns -= std::floor(value) * part.scale;
    ++printed;
  }
  return out.str();
}

TEST(Duration, DecodesWhatThePrinterPrints) {
  const std::pair<const char*, double> kCases[] = {
      {"000.000us", 0},
      {"000.960us", 960},
      {"001.313us", 1313},
      {"002ms500.000us", 2.5e6},
      {"003ms600.000us", 2.6e6},
      {"02s600ms000.000us", 1.6e9},
      {"060ms600.000us", 59.6e6},
      {"1000ms700.000us", 999.7e6},
      {"60s700ms000.000us", 59.7e9},
      {"02m60s700ms000.000us", 119.7e9},
      {"06m09s402ms746.001us", 369401746001},
      {"58m20s000ms000.000us", 3500e9},
      {"24h60m60s900ms000.000us", 86399.9e9},
      {"01d01h01m01s001ms000.000us", 90061001e6},
  };
  for (auto [text, expected_ns] : kCases) {
    auto ns = DecodeDurationNs(text);
    ASSERT_TRUE(ns) << text;
    EXPECT_EQ(*ns, expected_ns) << text;
    EXPECT_EQ(Print(expected_ns), text);
  }
}

TEST(Duration, DecodesAMillisecondInBothForms) {
  EXPECT_EQ(*DecodeDurationNs("001ms000.000us"), 1e6);
  EXPECT_EQ(*DecodeDurationNs("1000.000us"), 1e6);  // from 999999.6 ns
}

TEST(Duration, DecodesAPublishedReport) {
  // The plain sum of the parts would be 480.99 s.
  EXPECT_EQ(*DecodeDurationNs("07m60s991ms747.685us"), 419.990747685e9);
  // As printed, these percentiles fall (3.633, 3.154 ms). Decoded, they rise (2.633, 3.154 ms).
  EXPECT_LT(*DecodeDurationNs("003ms632.620us"), *DecodeDurationNs("003ms153.556us"));
}

TEST(Duration, TakesThePrintedPartAtExactlyHalf) {
  // The printer rounds halves to even, so both values print alike and no reader can tell them
  // apart.
  EXPECT_EQ(Print(1.5e9), "02s500ms000.000us");
  EXPECT_EQ(Print(2.5e9), "02s500ms000.000us");
  EXPECT_EQ(*DecodeDurationNs("02s500ms000.000us"), 2.5e9);
}

TEST(Duration, UndoesThePrinterOnRandomValues) {
  std::mt19937_64 random(20240229);
  std::uniform_real_distribution<double> exponent(0, 15.5);  // 1 ns to a month
  for (int i = 0; i < 200'000; ++i) {
    double ns = std::floor(std::pow(10, exponent(random)));
    // Exactly half of a part's unit is ambiguous (above).
    bool half = false;
    for (double unit : {1e6, 1e9, 60e9, 3600e9, 86400e9})
      half |= ns > unit && std::fmod(ns, unit) == unit / 2;
    if (half) continue;
    std::string text = Print(ns);
    auto decoded = DecodeDurationNs(text);
    ASSERT_TRUE(decoded) << text;
    ASSERT_EQ(*decoded, ns) << text;
  }
}

TEST(Duration, ReadsOldLayouts) {
  EXPECT_EQ(*DecodeDurationNs("001ms32.778us"), 1032778);
  EXPECT_EQ(*DecodeDurationNs("18s450ms18.269us"), 18450018269);
  EXPECT_EQ(*DecodeDurationNs("1s"), 1e9);
  EXPECT_EQ(*DecodeDurationNs("05m003ms"), 300003e6);
}

TEST(Duration, DecodesNegativeDurations) {
  EXPECT_EQ(*DecodeDurationNs("-003ms600.000us"), -2.6e6);
}

TEST(Duration, RefusesOtherText) {
  for (const char* text :
       {"", "us", "12", "1.5s", "3ms2s", "1.2.3us", "5MB", "12us3", "1x", "nan", "12parsecs"}) {
    EXPECT_FALSE(DecodeDurationNs(text)) << text;
  }
}

}  // namespace
}  // namespace xlaprof
