// Tests the lines of a log as collectors and terminals leave them.
#include "profiler/import/text/log_line.h"

#include <gmock/gmock.h>

#include "profiler/import/formats.h"

namespace xlaprof {
namespace {

using testing::ElementsAre;

std::vector<std::string> TextsOf(std::string_view bytes) {
  std::vector<std::string> out;
  for (LogTexts texts(bytes); texts.Next();) out.emplace_back(texts.text());
  return out;
}

TEST(LogTexts, AreWithoutColours) {
  EXPECT_THAT(TextsOf("a\n\x1b[1;32mb\x1b[0m c\x1b[K\r\x1b[2Kd\n"), ElementsAre("a", "b c", "d"));
  EXPECT_THAT(TextsOf("{\"log\":\"\\u001b[31me\\u001b[0m\"}\n"), ElementsAre("e"));
  EXPECT_EQ(WithoutEscapes("\x1b[ \x1b x\x1b["), "\x1b[ \x1b x\x1b[");  // no sequence ends here
}

TEST(LogTexts, AJsonMemberInItsLineIsAMessage) {
  EXPECT_THAT(TextsOf("  {\n    \"textPayload\": \"a\\nb\",\n    \"message\": \"c\"\n"
                      "  \"insertId\": \"x\",\n  }\n"),
              ElementsAre("  {", "a", "b", "c", "  \"insertId\": \"x\",", "  }"));
}

// Regression: a log with each word in its own colour was refused because "its first bytes look like
// binary".
TEST(LogTexts, ColoursDoNotHideAFormat) {
  const Format* found = Recognise(
                            "\x1b[32mMetric\x1b[0m: \x1b[1mCompileTime\x1b[0m\x1b[K\n"
                            "\x1b[32m  TotalSamples\x1b[0m: \x1b[1m6\x1b[0m\x1b[K\n"
                            "\x1b[32m  Accumulator\x1b[0m: \x1b[1m337ms683.150us\x1b[0m\x1b[K\n")
                            .format;
  ASSERT_NE(found, nullptr);
  EXPECT_STREQ(found->name, "metrics_report");
}

// A log may hold its only message in the middle, far from both ends.
TEST(LogTexts, MessagesInTheMiddleAreFound) {
  std::string output;
  while (output.size() < 200 << 10) output += "Analysis: epoch 1, Value: 3\n";
  EXPECT_EQ(Recognise(output + output).format, nullptr);
  const std::string message =
      "V1124 23:12:40.1 12 torch/_dynamo/guards.py:1] [0/1] [__recompiles] Recompiling function f in "
      "a.py:3\n";
  const Format* found = Recognise(output + message + output).format;
  ASSERT_NE(found, nullptr);
  EXPECT_STREQ(found->name, "dynamo_log");
}

}  // namespace
}  // namespace xlaprof
