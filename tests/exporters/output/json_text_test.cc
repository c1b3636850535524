#include "exporters/output/json_text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "exporters/output/json_writer.h"

namespace xlaprof {
namespace {

TEST(JsonText, EscapesWhatJsonAsksFor) {
  EXPECT_EQ(JsonString("a\"b\\c\n\t\r\x01\x1f/"), R"("a\"b\\c\n\t\r\u0001\u001f/")");
  EXPECT_EQ(JsonString(std::string_view("\0", 1)), R"("\u0000")");
  EXPECT_EQ(JsonString("Grüße 世界 🙂"), "\"Grüße 世界 🙂\"");
  EXPECT_EQ(JsonString("\x7f"), R"("\u007f")");
}

// Each maximal part of a character becomes one U+FFFD, as the Unicode standard recommends.
TEST(JsonText, ReplacesWhatIsNoUtf8) {
  const std::string r = "\xef\xbf\xbd";
  EXPECT_EQ(JsonString("a\xff"), "\"a" + r + "\"");
  EXPECT_EQ(JsonString("\xc3"), "\"" + r + "\"") << "cut";
  EXPECT_EQ(JsonString("\xe2\x82x"), "\"" + r + "x\"");
  EXPECT_EQ(JsonString("\xc0\xaf"), "\"" + r + r + "\"") << "too long a form";
  EXPECT_EQ(JsonString("\xed\xa0\x80"), "\"" + r + r + r + "\"") << "a surrogate";
  EXPECT_EQ(JsonString("\xf4\x90\x80\x80"), "\"" + r + r + r + r + "\"") << "above U+10FFFF";
  EXPECT_EQ(JsonString("\xf0\x9f\x99"), "\"" + r + "\"");
}

TEST(JsonText, AnyBytesBecomeJson) {
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    std::string bytes(random() % 8, 0);
    for (char& c : bytes) c = char(random() % 3 == 0 ? random() % 128 : 0x80 + random() % 128);
    const std::string text = JsonString(bytes);
    ASSERT_TRUE(nlohmann::json::accept(text)) << text;
    // nlohmann also replaces invalid text as the standard recommends.
    ASSERT_EQ(nlohmann::json::parse(text).get<std::string>(),
              nlohmann::json::parse(nlohmann::json(bytes).dump(
                                        -1, ' ', false, nlohmann::json::error_handler_t::replace))
                  .get<std::string>());
  }
}

template <class Fn>
std::string Written(Fn&& fn) {
  StringSink sink;
  JsonWriter json(sink);
  fn(json);
  EXPECT_TRUE(json.Finish().ok());
  return sink.text;
}

TEST(JsonWriter, Numbers) {
  auto integer = [](int64_t value) {
    return Written([&](JsonWriter& json) { json.Integer(value); });
  };
  EXPECT_EQ(integer(0), "0");
  EXPECT_EQ(integer(-42), "-42");
  EXPECT_EQ(integer(9007199254740992), "9007199254740992");
  EXPECT_EQ(integer(9007199254740993), "\"9007199254740993\"");
  EXPECT_EQ(integer(INT64_MIN), "\"-9223372036854775808\"");
  EXPECT_EQ(Written([](JsonWriter& json) { json.Unsigned(UINT64_MAX); }),
            "\"18446744073709551615\"");
  auto real = [](double value) { return Written([&](JsonWriter& json) { json.Real(value); }); };
  EXPECT_EQ(real(0.1), "0.1");
  EXPECT_EQ(real(3), "3.0");
  EXPECT_EQ(real(-0.0), "-0.0");
  EXPECT_EQ(real(1e300), "1e+300");
  EXPECT_EQ(real(5e-324), "5e-324");
  EXPECT_EQ(real(NAN), "\"NaN\"");
  EXPECT_EQ(real(-INFINITY), "\"-Infinity\"");
  auto micros = [](uint64_t ns) { return Written([&](JsonWriter& json) { json.Micros(ns); }); };
  EXPECT_EQ(micros(0), "0.000");
  EXPECT_EQ(micros(7), "0.007");
  EXPECT_EQ(micros(1234567), "1234.567");
  EXPECT_EQ(micros(UINT64_MAX), "18446744073709551.615");
}

TEST(JsonWriter, NumbersOfAllLengths) {
  std::mt19937_64 random(3);
  for (uint64_t around = 1; around != 0; around = around <= UINT64_MAX / 10 ? around * 10 : 0) {
    for (uint64_t number : {around - 1, around, around + 1, random() % around}) {
      char text[kIntegerBytes + kPieceBlock];
      ASSERT_EQ(std::string(text, PutDigits(text, number)), std::to_string(number));
      ASSERT_EQ(std::string(text, PutMicros(text, number)),
                fmt::format("{}.{:03}", number / 1000, number % 1000));
    }
  }
}

TEST(JsonWriter, PiecesOfAllLengths) {
  std::string expected;
  const std::string text(300, 'x');
  std::string written = Written([&](JsonWriter& json) {
    for (size_t i = 0; i < 10000; ++i) {
      const OwnPiece piece(text.substr(0, i % 300) + '.');
      json.Raw(piece.get());
      json.Raw(piece.get().Behind(i % 300));
      json.Raw(piece.get().First(i % 300 / 2));
      expected += std::string(piece.get()) + '.' + std::string(piece.get().substr(0, i % 300 / 2));
    }
    json.Raw(Piece());
    const OwnPiece large(std::string(1 << 20, 'y'));  // larger than the buffer
    json.Raw(large.get());
    expected += large.get();
  });
  EXPECT_TRUE(written == expected);
}

TEST(JsonWriter, KeepsOrderAroundItsBuffer) {
  std::string expected;
  const std::string large(1 << 20, 'x');
  std::string written = Written([&](JsonWriter& json) {
    for (int i = 0; i < 100000; ++i) {
      json.Raw("ab");
      json.Integer(i);
      expected += "ab" + std::to_string(i);
      if (i % 30000 == 0) {
        json.Raw(large);
        expected += large;
      }
    }
  });
  EXPECT_TRUE(written == expected);
}

class Full : public Sink {
 public:
  absl::Status Write(std::string_view) override {
    ++writes;
    return absl::ResourceExhaustedError("full");
  }
  absl::Status Close() override { return absl::OkStatus(); }
  int writes = 0;
};

TEST(JsonWriter, StopsAtTheFirstError) {
  Full sink;
  JsonWriter json(sink);
  for (int i = 0; i < 1000000; ++i) json.Raw("abcdefgh");
  EXPECT_FALSE(json.ok());
  EXPECT_EQ(Message(json.Finish()), "full");
  EXPECT_EQ(sink.writes, 1);
}

}  // namespace
}  // namespace xlaprof
