// Tests that damaged text becomes UTF-8 that a store can hold, and that replacements are counted.
#include "profiler/import/text/utf8.h"

#include <gtest/gtest.h>

namespace xlaprof {
namespace {

#define FFFD "\xef\xbf\xbd"

TEST(Utf8, EachBadByteIsReplacedAndCounted) {
  struct Case {
    std::string_view text, repaired;
    int64_t bad;
  };
  using namespace std::string_view_literals;
  for (const auto& [text, repaired, bad] : std::initializer_list<Case>{
           {"", "", 0},
           {"plain", "plain", 0},
           {"\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf"
            "\xbf",
            "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xf0\x90\x80\x80\xf4\x8f\xbf"
            "\xbf",
            0},
           {"a\x80z", "a" FFFD "z", 1},
           {"\xc0\xaf", FFFD FFFD, 2},                    // overlong
           {"\xe0\x9f\xbf", FFFD FFFD FFFD, 3},           // overlong
           {"\xf0\x8f\xbf\xbf", FFFD FFFD FFFD FFFD, 4},  // overlong
           {"\xed\xa0\x80", FFFD FFFD FFFD, 3},           // a surrogate
           {"\xf4\x90\x80\x80", FFFD FFFD FFFD FFFD, 4},  // above U+10FFFF
           {"\xf5z\xff", FFFD "z" FFFD, 2},
           {"\xe2\x82", FFFD FFFD, 2},  // the text ends inside a character
           {"\xe2\x82z\xe2\x82\xac", FFFD FFFD "z\xe2\x82\xac", 2},
           {"a\0b\0"sv, "a" FFFD "b" FFFD, 2},
       }) {
    int64_t counted = 10;
    EXPECT_EQ(ToUtf8(text, &counted), repaired);
    EXPECT_EQ(counted, 10 + bad) << repaired;
    EXPECT_EQ(ToUtf8(text), repaired);
  }
}

TEST(Utf8, CodePointsOfEachLengthAreWritten) {
  std::string text;
  for (const uint32_t code : {0x41u, 0x7fu, 0x80u, 0x7ffu, 0x800u, 0xffffu, 0x10000u, 0x10ffffu})
    AppendUtf8(code, text);
  EXPECT_EQ(text, "A\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
  EXPECT_EQ(ValidUtf8Prefix(text), text.size());
  std::string surrogate;
  AppendUtf8(0xd800, surrogate);
  EXPECT_EQ(ToUtf8(surrogate), FFFD FFFD FFFD);
}

}  // namespace
}  // namespace xlaprof
