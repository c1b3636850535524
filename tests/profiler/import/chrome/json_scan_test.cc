#include "profiler/import/chrome/json_scan.h"

#include <gtest/gtest.h>

#include <string>

namespace xlaprof::json {
namespace {

Value Only(std::string_view text) {
  Scanner in(text);
  Value value;
  EXPECT_TRUE(in.Read(&value)) << text;
  return value;
}

bool Refused(std::string_view text, bool* cut) {
  Scanner in(text);
  Value value;
  bool refused = !in.Read(&value);
  *cut = in.cut();
  return refused;
}

TEST(JsonScan, ReadsEachKind) {
  EXPECT_EQ(Only(" \n\"a\"").kind(), Kind::kText);
  EXPECT_EQ(Only("-1.5e3,").raw(), "-1.5e3");
  EXPECT_EQ(Only("true").kind(), Kind::kTrue);
  EXPECT_EQ(Only("false").kind(), Kind::kFalse);
  EXPECT_EQ(Only("null").kind(), Kind::kNull);
  EXPECT_EQ(Only("NaN").kind(), Kind::kNumber);
  EXPECT_EQ(Only("-Infinity").kind(), Kind::kNumber);
  EXPECT_EQ(Only("{\"a\": [1, \"}]\\\"\"]} tail").raw(), "{\"a\": [1, \"}]\\\"\"]}");
  EXPECT_EQ(Only("12").Int(), 12);
  EXPECT_EQ(Only("\"12\"").Int(), 12);
  EXPECT_EQ(Only("12.0").Int(), std::nullopt);
  EXPECT_EQ(Only("99999999999999999999").Int(), std::nullopt);
}

TEST(JsonScan, SaysWhetherItIsCutOrWrong) {
  bool cut = false;
  for (const char* text : {"", "  ", "\"abc", "\"abc\\", "\"abc\\\"", "{\"a\": 1", "[[[", "{\"a"}) {
    EXPECT_TRUE(Refused(text, &cut)) << text;
    EXPECT_TRUE(cut) << text;
  }
  for (const char* text : {"}", ",", "nonsense", "\x01"}) {
    EXPECT_TRUE(Refused(text, &cut)) << text;
    EXPECT_FALSE(cut) << text;
  }
}

TEST(JsonScan, SeesControlsAndEscapesAtAnyPlace) {
  for (size_t length = 0; length < 70; ++length) {
    for (size_t at = 0; at <= length; ++at) {
      std::string text(length, 'x');
      std::string quoted = "\"" + text + "\"";
      Value value = Only(quoted);
      ASSERT_EQ(value.raw(), text);
      ASSERT_FALSE(value.control() || value.escaped());
      std::string odd = text;
      odd.insert(at, "\n");
      quoted = "\"" + odd + "\"\n";
      value = Only(quoted);
      ASSERT_EQ(value.raw(), odd);
      ASSERT_TRUE(value.control());
      odd = text;
      odd.insert(at, "\\\"");
      quoted = "\"" + odd + "\"";
      value = Only(quoted);
      ASSERT_EQ(value.raw(), odd);
      ASSERT_TRUE(value.escaped());
      ASSERT_EQ(Decode(value), text.substr(0, at) + "\"" + text.substr(at));
    }
  }
}

TEST(JsonScan, DecodesEscapes) {
  EXPECT_EQ(Decode(Only(R"("\n\t\r\b\f\"\\\/")")), "\n\t\r\b\f\"\\/");
  EXPECT_EQ(Decode(Only(R"("\u0041\u00e9\u20ac\ud83d\ude00")")), "Aé€😀");
  EXPECT_EQ(Decode(Only(R"("\ud83d x \ude00")")), "\xef\xbf\xbd x \xef\xbf\xbd");
  EXPECT_EQ(Decode(Only(R"("\x \u12")")), R"(\x \u12)");
}

TEST(JsonScan, DeepNestingCostsNoStack) {
  std::string deep(1'000'000, '[');
  deep += "1" + std::string(1'000'000, ']');
  EXPECT_EQ(Only(deep).raw().size(), deep.size());
}

// Long numbers are scanned 16 bytes at a time. The result is the same wherever a number ends and
// whatever ends it.
TEST(JsonScan, NumbersOfEveryLength) {
  const std::string digits = "-1234567890.1234567890e+12345678";
  for (size_t length = 1; length < digits.size(); ++length) {
    for (const char* end : {",", "}", "]", " ,", "\n}", "/", "\"", ""}) {
      for (size_t behind : {0, 1, 15, 16, 17, 40}) {
        const std::string text = digits.substr(0, length) + end + std::string(behind, '7');
        const std::string plain =
            digits.substr(0, length) + (*end == 0 ? std::string(behind, '7') : "");
        json::Scanner in(text);
        json::Value value;
        ASSERT_TRUE(in.Read(&value)) << text;
        EXPECT_EQ(value.raw(), plain) << text;
        EXPECT_EQ(in.offset(), plain.size()) << text;
        EXPECT_EQ(value.kind(), json::Kind::kNumber);
      }
    }
  }
}

}  // namespace
}  // namespace xlaprof::json
